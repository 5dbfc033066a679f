"""Drop rules, a file each: which configurations may stop before the cross-validation ends (paper, section 5)."""

from .bootstrap import BootstrapDrop
from .contract import DropRule, DropVerdict

__all__ = ["BootstrapDrop", "DropRule", "DropVerdict"]
