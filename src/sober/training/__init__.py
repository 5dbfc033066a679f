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
from .executor import Executor, JoblibExecutor, SerialExecutor, make_executor
from .plan import Plan, Split
from .prefix import fit_predict_shared
from .problem import Problem, infer_task, take
from .race import RaceLog, Rule, Verdict, race
from .recall import recalling
from .response import Wanted
from .space import Configuration, check_names, expand
from .sqlite_store import SqliteStore, stored_seed
from .stopping import Stop
from .store import MemoryStore, Store
from .task import Failure, Outcome, Task, fit_predict

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
    "race",
    "recalling",
    "stored_seed",
    "take",
    "teller",
]
