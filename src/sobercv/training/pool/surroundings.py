"""Settings of the calling thread that change what a fit does: they travel to wherever the fit runs.

Warning filters (an error there is an exception), scikit-learn's configuration and numpy's handling of floating-point
errors. With them a fit in another process or thread does what it would have done in the caller's.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context, get_config


@dataclass(frozen=True)
class Surroundings:
    """What is in force where a search was called.

    Attributes
    ----------
    filters : list
        Those of `warnings`.
    config : dict
        scikit-learn's.
    floating : dict
        What numpy does about floating-point errors.
    """

    filters: list[Any]
    config: dict[str, Any]
    floating: Any

    @classmethod
    def here(cls) -> Surroundings:
        """Return those of the calling thread."""
        return cls(list(warnings.filters), get_config(), np.geterr())

    @contextmanager
    def apply(self, is_own_process: bool) -> Iterator[None]:
        """Put them in force.

        Parameters
        ----------
        is_own_process : bool
            Whether this process belongs to one worker. Threads share the filters of their process, and none of them
            may change them.
        """
        with config_context(**self.config), np.errstate(**self.floating):
            if is_own_process:
                with warnings.catch_warnings():
                    warnings.resetwarnings()
                    warnings.filters[:] = self.filters  # type: ignore[index]
                    yield
            else:
                yield
