from .preset import NAMES as NAMES
from .preset import TASKS as TASKS
from .preset import Preset as Preset
from .preset import get as get
