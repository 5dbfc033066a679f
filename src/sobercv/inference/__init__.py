"""From out-of-sample predictions to honest claims; arrays only, no training, no files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
