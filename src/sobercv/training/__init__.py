"""From data and configurations to out-of-sample `Predictions`; never judges them."""

from typing import TYPE_CHECKING

from ..late_imports import late

if TYPE_CHECKING:
    from .events import (
        Dropped,
        Event,
        Failed,
        Fitted,
        Listener,
        RoundEnded,
        RoundStarted,
        SearchEnded,
        SearchStarted,
        teller,
    )
    from .fit.plan import Plan, Split
    from .fit.problem import Problem, infer_task
    from .fit.space import Configuration, expand
    from .fit.task import Experiment
    from .keep.cache import kept_outcomes, stored_seed
    from .keep.store import MemoryStore
    from .pool import make_pool
    from .race import RaceLog
    from .stopping import Stop

__all__ = [
    "Configuration",
    "Dropped",
    "Event",
    "Experiment",
    "Failed",
    "Fitted",
    "Listener",
    "MemoryStore",
    "Plan",
    "Problem",
    "RaceLog",
    "RoundEnded",
    "RoundStarted",
    "SearchEnded",
    "SearchStarted",
    "Split",
    "Stop",
    "expand",
    "infer_task",
    "kept_outcomes",
    "make_pool",
    "stored_seed",
    "teller",
]

__getattr__ = late(
    __name__,
    {
        "Configuration": "fit.space",
        "Dropped": "events",
        "Event": "events",
        "Experiment": "fit.task",
        "Failed": "events",
        "Fitted": "events",
        "Listener": "events",
        "MemoryStore": "keep.store",
        "Plan": "fit.plan",
        "Problem": "fit.problem",
        "RaceLog": "race",
        "RoundEnded": "events",
        "RoundStarted": "events",
        "SearchEnded": "events",
        "SearchStarted": "events",
        "Split": "fit.plan",
        "Stop": "stopping",
        "expand": "fit.space",
        "infer_task": "fit.problem",
        "kept_outcomes": "keep.cache",
        "make_pool": "pool",
        "stored_seed": "keep.cache",
        "teller": "events",
    },
)
