"""Selection procedures: how more than a column is selected. One file per kind of decision."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
