"""Drop rules, a file each: which configurations may stop before the cross-validation ends (paper, section 5)."""

from .betting import BettingDrop
from .bootstrap import BootstrapDrop
from .concentration import BernsteinDrop, HoeffdingDrop
from .confidence import ConfidenceDrop
from .contract import DropRule, DropVerdict
from .predictive import PredictiveDrop

__all__ = [
    "BernsteinDrop",
    "BettingDrop",
    "BootstrapDrop",
    "ConfidenceDrop",
    "DropRule",
    "DropVerdict",
    "HoeffdingDrop",
    "PredictiveDrop",
]
