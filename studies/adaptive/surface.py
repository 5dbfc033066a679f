"""A search space whose truth is known: predictions for any point of a cube, simulated when they are asked for.

Takes a setting and a seed, gives columns of right and wrong predictions, and the true accuracy of every point; never
selects. Samples are right where a random field of theirs lies below a threshold: neighbouring points err on the same
samples, as neighbouring hyper-parameters do, so that a tuner finds a smooth surface with hills that are noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

WAVES = 48  # cosines of which a field is made
DIMENSIONS = 3
REACH = 0.2  # how far apart two points err independently, but for what all points share


@dataclass(frozen=True)
class Shape:
    """What the true accuracy looks like over the cube, and how alike the points err.

    Attributes
    ----------
    name : str
    top : float
        The best true accuracy.
    drop : float
        How much of it is lost at the far corner.
    shared : float
        Correlation of the errors of points that are far apart.
    """

    name: str
    top: float
    drop: float
    shared: float


#: Nothing to find; a gentle hill; a steep one that all but the best miss by much.
SHAPES = (Shape("flat", 0.7, 0.0, 0.3), Shape("hill", 0.75, 0.2, 0.5), Shape("steep", 0.8, 0.6, 0.5))


class Surface:
    """One simulated problem.

    Parameters
    ----------
    shape : Shape
    n : int
        Samples.
    rng : Generator
    """

    def __init__(self, shape: Shape, n: int, rng: np.random.Generator) -> None:
        self.shape = shape
        self._peak = rng.random(DIMENSIONS)
        self._waves = rng.standard_normal((WAVES, DIMENSIONS)) / REACH
        own = rng.standard_normal((n, 2 * WAVES)) / np.sqrt(WAVES)
        self._field = np.sqrt(1.0 - shape.shared) * own
        self._level = np.sqrt(shape.shared) * rng.standard_normal(n)

    def truth(self, point: np.ndarray) -> float:
        """Give the accuracy that this point has on new samples."""
        return float(self.shape.top - self.shape.drop * np.mean((point - self._peak) ** 2))

    def right(self, point: np.ndarray) -> np.ndarray:
        """Tell which samples this point predicts rightly, bool [N]."""
        angle = self._waves @ point
        latent = self._level + self._field @ np.concatenate([np.cos(angle), np.sin(angle)])  # standard normal
        return np.asarray(latent < ndtri(self.truth(point)))
