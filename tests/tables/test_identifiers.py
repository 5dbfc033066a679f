"""What tells rows or patients apart, by name and by content; and what only looks like it."""

import numpy as np
import pandas as pd
import pytest

from sobercv.tables.facts import is_identifier, repeats_subjects

RNG = np.random.default_rng(7)
N = 200
IDENTIFIERS = {
    "a running number": ("n", np.arange(N)),
    "a running number with holes": ("n", np.cumsum(RNG.integers(1, 5, N))),
    "a running number with gaps": ("n", [None, *map(float, range(N - 1))]),
    "keys of eight digits": ("lab_no", RNG.permutation(np.arange(10_000_000, 99_999_999, 1_000_000))[:80]),
    "whole numbers with a name": ("patient_id", RNG.permutation(5000)[:N]),
    "text that never repeats": ("who", [f"P-{i * 37 % 1000}" for i in range(N)]),
}
MEASUREMENTS = {
    "fractions": ("x", RNG.normal(size=N)),
    "ages": ("age", RNG.integers(20, 90, N)),
    "large counts": ("reads", RNG.integers(1000, 900_000_000, N)),
    "different whole numbers": ("cells", RNG.permutation(5000)[:N]),
    "dates": ("born", [f"19{i % 80 + 10}-01-{i % 28 + 1:02d}" for i in range(28)]),
    "few rows": ("n", np.arange(9)),
    "flags": ("f", [True, False] * 20),
    "infinite": ("x", [np.inf, *range(30)]),
    "a gas": ("NO2", RNG.permutation(5000)[:N]),
    "a name that ends like an id": ("uric_acid", RNG.permutation(5000)[:N]),
}
SUBJECTS = {
    "patient": ("patient", np.repeat(np.arange(50), 4)),
    "subject_id": ("subject_id", np.repeat([f"s{i}" for i in range(60)], 3)),
    "Patienten-Nr.": ("Patienten-Nr.", np.repeat(np.arange(150), [1, 1, 2] * 50)),
    "PatientenNr": ("PatientenNr", np.repeat(np.arange(150), [1, 1, 2] * 50)),
    "Patientennummer": ("Patientennummer", np.repeat(np.arange(150), [1, 1, 2] * 50)),
    "Person": ("Person", np.repeat(np.arange(90), 2)),
    "text whose values occur a few times each": ("who", np.repeat([f"{i:x}" for i in range(60)], 3)),
}
NO_SUBJECTS = {
    "cities": (
        "city",
        RNG.choice([f"c{i}" for i in range(60)], N, p=np.arange(60, 0, -1) ** 3 / sum(np.arange(61) ** 3)),
    ),
    "few categories": ("site", RNG.choice(list("abcdef"), N)),
    "ages": ("age", RNG.integers(20, 90, N)),
    "one row each": ("patient", np.arange(N)),
    "fractions": ("patient", RNG.normal(size=N)),
    "a name that ends like an id": ("uric_acid", RNG.integers(100, 200, N)),
}


@pytest.mark.parametrize(("name", "values"), IDENTIFIERS.values(), ids=IDENTIFIERS)
def test_identifiers(name, values):
    assert is_identifier(pd.Series(values), name)


@pytest.mark.parametrize(("name", "values"), MEASUREMENTS.values(), ids=MEASUREMENTS)
def test_no_identifiers(name, values):
    assert not is_identifier(pd.Series(values), name)


@pytest.mark.parametrize(("name", "values"), SUBJECTS.values(), ids=SUBJECTS)
def test_subjects_with_several_rows(name, values):
    assert repeats_subjects(pd.Series(values), name)


@pytest.mark.parametrize(("name", "values"), NO_SUBJECTS.values(), ids=NO_SUBJECTS)
def test_no_subjects(name, values):
    assert not repeats_subjects(pd.Series(values), name)
