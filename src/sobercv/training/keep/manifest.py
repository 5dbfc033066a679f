"""Manifest: what a stored run is a run of, as digests and texts that another process can compare.

Two manifests may be united where one extends the other: more splits, more configurations.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

from ..fit.plan import Plan
from ..fit.problem import Problem
from ..fit.space import Configuration
from ..fit.task import Experiment
from .fingerprint import Writer, digest, versions

#: Bytes of the keys under which outcomes are kept.
KEY = 8
_DATA = ("task", "X", "y", "pos_label", "groups", "sample_weight", "fit_params")


@dataclass(frozen=True, eq=False)
class Manifest:
    """Fingerprints of everything that an outcome depends on.

    Attributes
    ----------
    data : mapping of str to str
        A digest for each of X, y and what goes with them.
    estimator, asked : str
        Class and parameters; what else is asked of every fitted model, empty where nothing is.
    code, versions : mapping of str to str
        Digests of the user's own modules that take part; the versions of Python and installed packages.
    responses : tuple of str
        What every fit is asked for.
    seed : int
    splits : tuple of str
        A key for each split, of its training and test rows, in the order of the plan.
    configurations : mapping of str to str
        From a key to the parameters, in the order of the indices.
    """

    data: Mapping[str, str]
    estimator: str
    asked: str
    code: Mapping[str, str]
    versions: Mapping[str, str]
    responses: tuple[str, ...]
    seed: int
    splits: tuple[str, ...]
    configurations: Mapping[str, str]

    @classmethod
    def build(cls, experiment: Experiment, configurations: Sequence[Configuration], plan: Plan, seed: int) -> Manifest:
        """Take the fingerprints of a search."""
        writer = Writer()
        estimator = writer.write(experiment.estimator)
        params = [writer.write(dict(configuration.params)) for configuration in configurations]
        asked = "" if experiment.asks is None else writer.write(experiment.asks)
        code, packages = writer.code()
        return cls(
            data=_data_digests(experiment.problem),
            estimator=estimator,
            asked=asked,
            code=code,
            versions=versions(packages),
            responses=tuple(" or ".join(alternatives) for alternatives in experiment.wanted),
            seed=seed,
            splits=tuple(digest(split.train, split.test, size=KEY).hex() for split in plan.splits),
            configurations=_keyed(params),
        )

    @cached_property
    def checksum_key(self) -> bytes:
        """The key of every stored outcome's checksum: an outcome of other data or another estimator never fits."""
        return digest(dict(self.data), self.estimator, self.responses, self.asked, size=32)

    def differences(self, now: Manifest) -> list[str]:
        """Say in what `now` differs from this stored run, unless it goes on with it or extends it."""
        found = []
        changed = [name for name in _DATA if self.data.get(name) != now.data[name]]
        if changed:
            found.append(f"the data ({', '.join(changed)})")
        edited = [name for name, code in self.code.items() if now.code.get(name, code) != code]
        if edited:
            found.append(f"the code ({', '.join(sorted(edited))})")
        elif self.estimator != now.estimator:
            found.append(f"the estimator ({_first_difference(self.estimator, now.estimator)})")
        if self.responses != now.responses:
            found.append(
                f"what scoring asks of an estimator (was {', '.join(self.responses)}; is {', '.join(now.responses)})"
            )
        if self.asked != now.asked and not edited:
            found.append("the scorer that is called on every fitted model")
        other = [name for name, then in self.versions.items() if now.versions.get(name, then) != then]
        if other:
            listed = ", ".join(f"{name} {self.versions[name]}, now {now.versions[name]}" for name in other)
            found.append(f"the installed versions ({listed})")
        if self.seed != now.seed:
            found.append(f"the seed (was {self.seed}; is {now.seed})")
        if any(a != b for a, b in zip(self.splits, now.splits, strict=False)):
            found.append("the folds")
        gone = [text for key, text in self.configurations.items() if key not in now.configurations]
        if gone and not edited:
            n = len(self.configurations)
            found.append(f"the grid ({len(gone)} of {n} stored configurations are not in it, the first is {gone[0]})")
        return found

    def united(self, now: Manifest) -> Manifest:
        """Return the manifest of the file once `now` has joined the stored run."""
        splits = max(self.splits, now.splits, key=len)
        return replace(now, splits=splits, versions={**self.versions, **now.versions})

    def to_json(self) -> bytes:
        """Write as a text."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> Manifest:
        """Read what `to_json` wrote; raises ValueError, KeyError or TypeError where it is anything else."""
        held = json.loads(text)
        return cls(**held | {name: tuple(held[name]) for name in ("responses", "splits")})


#: Of problems that are alive: each trial of a study has a manifest of its own, and all have the same data.
_DIGESTS: WeakKeyDictionary[Problem, dict[str, str]] = WeakKeyDictionary()


def _data_digests(problem: Problem) -> dict[str, str]:
    """Return a digest for each of X, y and what goes with them; taken once for a problem, however often it is asked."""
    known = _DIGESTS.get(problem)
    if known is None:
        fit_params = {**problem.fit_params, "weighted_fit": problem.weighted_fit}
        # Scores are those of the last class, so outcomes depend on which one that is.
        last = None if problem.classes is None else problem.classes.tolist()[-1]
        parts = (problem.task, problem.X, problem.y, last, problem.group_codes, problem.sample_weight, fit_params)
        known = _DIGESTS[problem] = {name: digest(part).hex() for name, part in zip(_DATA, parts, strict=True)}
    return known


def _keyed(texts: Sequence[str]) -> dict[str, str]:
    """Give each configuration a key of its parameters; of equal ones, the second has another key than the first."""
    keyed: dict[str, str] = {}
    times: dict[str, int] = {}
    for text in texts:
        times[text] = times.get(text, 0) + 1
        keyed[digest(text, times[text], size=KEY).hex()] = text
    return keyed


def _first_difference(was: str, now: str) -> str:
    """Show both texts where they part."""
    same = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    start = max(0, same - 40)
    lead = "..." if start else ""
    return f"was {lead}{was[start : same + 40]}; is {lead}{now[start : same + 40]}"
