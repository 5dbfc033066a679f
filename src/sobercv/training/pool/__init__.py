"""Where fits run: in this process, in others of this machine, in threads, on a cluster."""

from .making import make_pool

__all__ = ["make_pool"]
