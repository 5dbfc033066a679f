"""Manifest: what a stored run is a run of, as digests and texts that another process can compare.

Two manifests may be united where one extends the other: more splits, more configurations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from weakref import WeakKeyDictionary

from ..fit.experiment import Experiment
from ..fit.plan import Plan
from ..fit.problem import Problem
from ..fit.space import Configuration
from .fingerprint import digest, fingerprint
from .own_code import versions

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
    estimator : str
        Class and parameters.
    code : mapping of str to str
        A digest of each piece of the user's own code that takes part, by name.
    responses : tuple of str
        What every fit is asked for.
    seed : int
    splits : tuple of str
        A key for each split, of its training and test rows, in the order of the plan.
    configurations : mapping of str to str
        From a key to the parameters, in the order of the indices.
    versions : mapping of str to str
        Of Python, the machine and the installed packages that take part.
    asked : str
        What else is asked of every fitted model; empty where nothing is.
    unknown : mapping of str to str
        What the user's code uses but cannot be described: name and type. Not written into the file.
    """

    data: Mapping[str, str]
    estimator: str
    code: Mapping[str, str]
    responses: tuple[str, ...]
    seed: int
    splits: tuple[str, ...]
    configurations: Mapping[str, str]
    versions: Mapping[str, str]
    asked: str = ""
    unknown: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def build(cls, experiment: Experiment, configurations: Sequence[Configuration], plan: Plan, seed: int) -> Manifest:
        """Take the fingerprints of a search."""
        found = fingerprint(experiment.estimator)
        each = [fingerprint(dict(configuration.params)) for configuration in configurations]
        asked = None if experiment.asks is None else fingerprint(experiment.asks)
        everything = [found, *each, *([] if asked is None else [asked])]
        return cls(
            data=_data_digests(experiment.problem),
            estimator=found.text,
            code={name: code for part in everything for name, code in part.code.items()},
            responses=tuple(" or ".join(alternatives) for alternatives in experiment.wanted),
            seed=seed,
            splits=tuple(digest(split.train, split.test, size=KEY).hex() for split in plan.splits),
            configurations=_keyed([part.text for part in each]),
            versions=versions({package for part in everything for package in part.packages}),
            asked="" if asked is None else asked.text,
            unknown={name: kind for part in everything for name, kind in part.unknown.items()},
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
            found.append(f"the code ({_listed(edited)})")
        elif self.estimator != now.estimator:
            found.append(f"the estimator ({_first_difference(_shown(self.estimator), _shown(now.estimator))})")
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
            first = _shown(gone[0])
            found.append(f"the grid ({len(gone)} of {n} stored configurations are not in it, the first is {first})")
        return found

    def united(self, now: Manifest) -> Manifest:
        """Return the manifest of the file once `now` has joined the stored run."""
        splits = max(self.splits, now.splits, key=len)
        return replace(now, splits=splits, versions={**self.versions, **now.versions})

    def to_json(self) -> str:
        """Write as a text."""
        return json.dumps({name: getattr(self, name) for name in self.__dataclass_fields__ if name != "unknown"})

    @classmethod
    def from_json(cls, text: str | bytes) -> Manifest:
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError, KeyError, TypeError
            Where it is anything else.
        """
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


def _listed(names: Sequence[str], most: int = 4) -> str:
    """Name the first few."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(sorted(names)[:most]) + more


def _shown(text: str) -> str:
    """Leave out the digest of the code, which says nothing to a reader."""
    return re.sub(r" code#[0-9a-f]{16}$", "", text)


def _first_difference(was: str, now: str) -> str:
    """Show both texts where they part."""
    same = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    start = max(0, same - 40)
    lead = "..." if start else ""
    return f"was {lead}{was[start : same + 40]}; is {lead}{now[start : same + 40]}"
