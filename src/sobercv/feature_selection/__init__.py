"""Feature selection: SES, statistically equivalent signatures, as a transformer for any pipeline."""

from .ses import SES

__all__ = ["SES"]
