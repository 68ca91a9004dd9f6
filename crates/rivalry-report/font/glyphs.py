"""Writes the outlines of a font's letters as plain text: `python glyphs.py OpenSans-Regular.ttf > glyphs.txt`.

One line a letter: code point in hexadecimal, width, and the outline as M, L, Q and Z, in units of the first line's em.
Code point 0 is the box for letters that the font lacks. Needs fontTools.
"""

import sys

from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

RANGES = [(0x20, 0x7E), (0xA0, 0x17F), (0x384, 0x3CE), (0x400, 0x45F), (0x2010, 0x2026)]
SIGNS = [0x2030, 0x2032, 0x2212, 0x2248, 0x2260, 0x2264, 0x2265]


class TextPen(BasePen):
    """Notes an outline, cut into simple parts, as words."""

    def __init__(self, glyphs):
        super().__init__(glyphs)
        self.words = []

    def note(self, command, *points):
        self.words += [command, *(str(round(number)) for point in points for number in point)]

    def _moveTo(self, point):
        self.note("M", point)

    def _lineTo(self, point):
        self.note("L", point)

    def _qCurveToOne(self, control, point):
        self.note("Q", control, point)

    def _closePath(self):
        self.note("Z")


font = TTFont(sys.argv[1])
glyphs, names = font.getGlyphSet(), font.getBestCmap()
wanted = [code for first, last in RANGES for code in range(first, last + 1)] + SIGNS
print("em", font["head"].unitsPerEm)
for code, name in [(0, ".notdef")] + [(code, names[code]) for code in wanted if code in names]:
    pen = TextPen(glyphs)
    glyphs[name].draw(pen)
    print(f"{code:04x}", glyphs[name].width, *pen.words)
