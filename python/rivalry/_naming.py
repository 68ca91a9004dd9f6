"""Settings in error messages, named by the arguments that set them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

#: A setting by its key in a config, with or without a value: ``train.epochs``, ``model.score = "cosine"``.
_SETTING = re.compile(r"`?\b((?:data|model|loss|sampler|optim|train|eval)(?:\.\w+)+)(?: = (\"[^\"]*\"|[\w.+-]+))?`?")
#: What is wrong with the value of a setting.
_EXPECTED = re.compile(r"^([^\s:]+): expected (.+), found (.+)$", re.MULTILINE)
#: A list that the command line shows.
_LIST = re.compile(r"'rivalry list (\w+)'")


@contextmanager
def arguments(names: Mapping[str, str]) -> Iterator[None]:
    """Raises errors of the settings with the names of the arguments.

    ``names`` holds the argument of each config key. The argument of a whole section, such as ``loss_params`` of
    ``loss.``, is a dictionary of the section's other keys.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        text = renamed(str(error), names)
        if text == str(error):
            raise
        raise type(error)(text) from None


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text of an error with the names of the arguments."""

    def argument(setting: re.Match[str]) -> str:
        key, value = setting.groups()
        value = {"true": "True", "false": "False"}.get(value, value)
        section, _, rest = key.partition(".")
        if key in names:
            return names[key] if value is None else f"{names[key]}={value}"
        if section + "." not in names:
            return setting[0].strip("`")
        params = names[section + "."]
        return f'{params}["{rest}"]' if value is None else f'{params}={{"{rest}": {value}}}'

    def of_section(unknown: re.Match[str]) -> str:
        section, what = unknown.groups()
        if what == "parameter":
            return f"{names.get(section + '.', section)}: unknown parameter"
        name = names.get(section + ".type", section)
        return f"{name}: unknown {name}"

    text = re.sub(r"^(\w+): unknown (parameter|\1)\b", of_section, _SETTING.sub(argument, text))
    return _LIST.sub(r"rivalry.\1()", _EXPECTED.sub(r"\1 must be \2, not \3", text))
