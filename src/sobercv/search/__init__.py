"""The searches: where training and inference are connected."""

from . import progress

__all__ = ["progress"]
