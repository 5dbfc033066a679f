"""Search spaces for a bare table, and SES feature selection."""

from .ses import SES

__all__ = ["SES"]
