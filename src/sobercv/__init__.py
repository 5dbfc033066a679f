"""sober: tune by cross-validation, and say honestly how good the winner is."""

import lazy_loader

__version__ = "0.2.0"

# Names are imported when they are first asked for, from where __init__.pyi says: `sober --help` must not wait seconds
# for numba and scikit-learn.
__getattr__, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
#: Without packages that need an extra, or are meant to be imported by their own name.
__all__ = sorted({*_names} - {"feature_selection", "mlflow", "optuna", "presets", "report", "rivals"})
