"""Manifest: what a stored run is a run of, as digests and texts that another process can compare.

Two manifests may be united where one extends the other: more splits, more configurations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from ..fit.plan import Plan
from ..fit.problem import Problem
from ..fit.space import Configuration
from ..fit.task import Experiment
from .fingerprint import code_of, digest, fingerprint, versions


@dataclass(frozen=True, eq=False)
class Manifest:
    """Fingerprints of everything that an outcome depends on.

    Attributes
    ----------
    data, code, versions : mapping of str to str
        Digests of X, y and what goes with them, and of the user's own modules; versions of Python and packages.
    asked : mapping of str to (digest, text)
        What else must be the same: the estimator, what scoring asks of it, the seed.
    splits : sequence of str
        A key for each split, of its training and test rows, in the order of the plan.
    configurations : mapping of str to str
        From a key to the parameters, in the order of the indices.
    """

    data: Mapping[str, str]
    code: Mapping[str, str]
    versions: Mapping[str, str]
    asked: Mapping[str, Sequence[str]]
    splits: Sequence[str]
    configurations: Mapping[str, str]

    @classmethod
    def build(cls, experiment: Experiment, configurations: Sequence[Configuration], plan: Plan, seed: int) -> Manifest:
        """Take the fingerprints of a search."""
        modules: set[str] = set()
        wanted = ", ".join(" or ".join(alternatives) for alternatives in experiment.wanted)
        asked = {
            "the estimator": (fingerprint(experiment.estimator, modules), _text(experiment.estimator)),
            "what scoring asks of an estimator": (wanted, wanted),
            "the scorer that is called on every fitted model": (fingerprint(experiment.asks, modules), ""),
            "the seed": (str(seed), str(seed)),
        }
        keyed: dict[str, str] = {}
        for configuration in configurations:
            params = dict(configuration.params)
            key = found = fingerprint(params, modules)[:16]
            while key in keyed:  # of equal ones, the second has another key than the first
                key = fingerprint((key, found), set())[:16]
            keyed[key] = _text(params)
        data = _data_digests(experiment.problem)
        code, packages = code_of(modules)
        splits = [fingerprint((split.train, split.test), set())[:16] for split in plan.splits]
        return cls(data, code, versions(packages), asked, splits, keyed)

    @property
    def seed(self) -> int:
        """The root seed."""
        return int(self.asked["the seed"][0])

    def differences(self, now: Manifest) -> list[str]:
        """Say in what `now` differs from this stored run, unless it goes on with it or extends it."""
        found = []
        data = [name for name, held in self.data.items() if now.data.get(name) != held]
        code = sorted(name for name, held in self.code.items() if now.code.get(name, held) != held)
        other = [name for name, held in self.versions.items() if now.versions.get(name, held) != held]
        if data:
            found.append(f"the data ({', '.join(data)})")
        if code:
            found.append(f"the code ({', '.join(code)})")
        if other:
            listed = ", ".join(f"{name} {self.versions[name]}, now {now.versions[name]}" for name in other)
            found.append(f"the installed versions ({listed})")
        for name, (key, was) in self.asked.items():
            key_now, text = now.asked[name]
            if key != key_now:
                found.append(name if was == text else f"{name} ({_first_difference(was, text)})")
        if any(a != b for a, b in zip(self.splits, now.splits, strict=False)):
            found.append("the folds")
        gone = [text for key, text in self.configurations.items() if key not in now.configurations]
        if gone:
            n = len(self.configurations)
            found.append(f"the grid ({len(gone)} of {n} stored configurations are not in it, the first is {gone[0]})")
        return found

    def united(self, now: Manifest) -> Manifest:
        """Return the manifest of the file once `now` has joined the stored run."""
        splits = max(self.splits, now.splits, key=len)
        return replace(now, splits=splits, versions={**self.versions, **now.versions})

    def to_json(self) -> bytes:
        """Write as a text; `Manifest(**json.loads(text))` reads it."""
        return json.dumps(asdict(self)).encode()


#: Of problems that are alive: each trial of a study has a manifest of its own, and all have the same data.
_DIGESTS: WeakKeyDictionary[Problem, dict[str, str]] = WeakKeyDictionary()


def _data_digests(problem: Problem) -> dict[str, str]:
    """Return a digest for each of X, y and what goes with them; taken once for a problem, however often it is asked."""
    if problem not in _DIGESTS:
        parts = {
            "task": problem.task,
            "X": problem.X,
            "y": problem.y,
            # Scores are those of the last class, so outcomes depend on which one that is.
            "pos_label": None if problem.classes is None else problem.classes.tolist()[-1],
            "groups": problem.group_codes,
            "sample_weight": problem.sample_weight,
            "fit_params": {**problem.fit_params, "weighted_fit": problem.weighted_fit},
        }
        _DIGESTS[problem] = {name: digest(part) for name, part in parts.items()}
    return _DIGESTS[problem]


def _text(value: Any) -> str:
    """Describe an estimator, or parameters, for people."""
    if not hasattr(value, "get_params"):
        return re.sub(" at 0x[0-9a-f]+", "", repr(value))
    params = ", ".join(f"{name}={_text(setting)}" for name, setting in value.get_params(deep=False).items())
    return f"{type(value).__module__}.{type(value).__qualname__}({params})"


def _first_difference(was: str, now: str) -> str:
    """Show both texts where they part."""
    same = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    start = max(0, same - 40)
    lead = "..." if start else ""
    return f"was {lead}{was[start : same + 40]}; is {lead}{now[start : same + 40]}"
