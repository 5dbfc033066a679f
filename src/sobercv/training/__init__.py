"""From data and configurations to out-of-sample `Predictions`; never judges them."""

# ruff: noqa: F401
from .events import Dropped, Event, Failed, Fitted, Listener, RoundEnded, RoundStarted, SearchEnded, SearchStarted
from .fit.plan import Plan, Split
from .fit.problem import Problem, infer_task
from .fit.space import Configuration, expand
from .fit.task import Experiment, error_text
from .keep.cache import OutcomeCache, stored_seed
from .keep.store import MemoryStore
from .pool import make_pool
from .race import RaceLog
from .stopping import Stop
