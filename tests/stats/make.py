"""Writes scipy.json: what SciPy says of fixed vectors of differences.

    pip install scipy && python make.py

The vectors are in the file too, so that nothing depends on how they were drawn. NaN and infinities are written as null.
"""

import json
import math
import pathlib
import warnings

import numpy
import scipy
from scipy import stats

rng = numpy.random.default_rng(20)


def sample(n, shift=0.1):
    """Normal differences with few enough digits to be read."""
    return rng.normal(shift, 1.0, n).round(6)


VECTORS = {
    **{f"normal, n = {n}": sample(n) for n in [2, 5, 6, 8, 12, 13, 14, 30, 50, 51, 200]},
    "normal, clear difference": sample(40, 1.5),
    "heavy ties": rng.choice([-0.2, -0.1, 0.1, 0.2, 0.3], 200),
    "ties, n = 9": rng.choice([-0.2, -0.1, 0.1, 0.2, 0.3], 9),
    "ties, n = 13": rng.choice([-0.2, -0.1, 0.1, 0.2, 0.3], 13),
    "ties, n = 14": rng.choice([-0.2, -0.1, 0.1, 0.2, 0.3], 14),
    "zeros": numpy.where(rng.random(200) < 0.7, 0.0, sample(200)),
    "zeros, n = 12": numpy.where(numpy.arange(12) % 3 == 0, 0.0, sample(12)),
    "zeros, n = 14, of which 10 are not": numpy.where(numpy.arange(14) < 4, 0.0, sample(14)),
    "zeros and ties, n = 40": rng.choice([-0.25, 0.0, 0.25, 0.5], 40),
    "identical": numpy.zeros(30),
    "constant shift": numpy.full(30, 0.25),
    "one outlier": numpy.append(sample(24), 40.0),
}


def number(x):
    return float(x) if math.isfinite(x) else None


def case(name, differences):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        t = stats.ttest_1samp(differences, 0.0)
        rank = stats.wilcoxon(differences)
    return {
        "name": name,
        "differences": differences.tolist(),
        "mean": number(differences.mean()),
        "deviation": number(differences.std(ddof=1)),
        "t": {"statistic": number(t.statistic), "p": number(t.pvalue), "degrees_of_freedom": int(t.df)},
        "wilcoxon": {"statistic": number(rank.statistic), "p": number(rank.pvalue)},
    }


cases = ",\n  ".join(json.dumps(case(*pair)) for pair in VECTORS.items())
path = pathlib.Path(__file__).with_name("scipy.json")
path.write_text(f'{{\n "scipy": "{scipy.__version__}",\n "cases": [\n  {cases}\n ]\n}}\n')
