"""From data and configurations to out-of-sample `Predictions`; never judges them."""

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
from .fit.prefix import fit_predict_shared
from .fit.problem import Problem, infer_task, take
from .fit.response import Wanted
from .fit.space import Configuration, check_names, expand
from .fit.task import Failure, Outcome, Task, fit_predict
from .keep.recall import recalling
from .keep.sqlite_store import SqliteStore, stored_seed
from .keep.store import MemoryStore, Store
from .race import RaceLog, Rule, Verdict
from .run.executor import Executor, JoblibExecutor, SerialExecutor, make_executor
from .stopping import Stop

__all__ = [
    "Configuration",
    "Dropped",
    "Event",
    "Executor",
    "Failed",
    "Failure",
    "Fitted",
    "JoblibExecutor",
    "Listener",
    "MemoryStore",
    "Outcome",
    "Plan",
    "Problem",
    "RaceLog",
    "RoundEnded",
    "RoundStarted",
    "Rule",
    "SearchEnded",
    "SearchStarted",
    "SerialExecutor",
    "Split",
    "SqliteStore",
    "Stop",
    "Store",
    "Task",
    "Verdict",
    "Wanted",
    "check_names",
    "expand",
    "fit_predict",
    "fit_predict_shared",
    "infer_task",
    "make_executor",
    "recalling",
    "stored_seed",
    "take",
    "teller",
]
