"""Versions of Python and of the libraries that shape a result.

Takes nothing, gives names and versions as plain data; never imports what it asks about.
"""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("sobercv", "scikit-learn", "numpy", "scipy", "pandas", "skrub", "joblib", "scikit-survival")


def versions() -> dict[str, str]:
    """Give the versions of what is installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
