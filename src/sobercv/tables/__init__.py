"""Tables in files: read from any of the usual formats, every column by its schema, and given their roles."""

import lazy_loader

# An error about a path must not wait for pandas.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
