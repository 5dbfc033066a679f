"""Pieces of SVG: escaped tags, axes with round numbers, paths.

Takes numbers and text, gives markup that is safe to put into a page; knows nothing of what is drawn. Colours come from
classes that the page's style sheet defines, so that dark mode and print need no second drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise

Point = tuple[float, float]
WIDTH, HEIGHT = 360, 264


def tag(name: str, *content: str, **attributes: str | float | None) -> str:
    """Write an element; attributes are escaped, content is markup already. `class_` is class, `_` becomes `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(content)
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


def text(words: str, x: float, y: float, class_: str = "label", anchor: str = "middle", **more: str | float) -> str:
    """Write a line of text."""
    return tag("text", escape(words), x=x, y=y, class_=class_, text_anchor=anchor, **more)


def titled(element: str, words: str) -> str:
    """Give an element words that appear under the pointer and that screen readers say."""
    return tag("g", tag("title", escape(words)), element)


def picture(parts: Iterable[str], title: str, width: float = WIDTH, height: float = HEIGHT, class_: str = "") -> str:
    """Close a drawing; the title tells its content to those who cannot see it."""
    return tag(
        "svg",
        tag("title", escape(title)),
        *parts,
        viewBox=f"0 0 {short(width)} {short(height)}",
        role="img",
        class_=f"chart {class_}".strip(),
    )


def path(points: Iterable[Point], class_: str, *, closed: bool = False) -> str:
    """Draw a line through points."""
    ends = [f"{short(x)},{short(y)}" for x, y in points]
    return tag("path", d="M" + "L".join(ends) + ("Z" if closed else ""), class_=class_) if ends else ""


def steps(points: Sequence[Point]) -> list[Point]:
    """Go to the right first, then up or down."""
    out = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        out += [(x, before), (x, y)]
    return out


def short(value: str | float) -> str:
    """Write a coordinate with one decimal."""
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def ticks(ends: Sequence[float], wanted: int = 5) -> list[float]:
    """Round numbers between two ends."""
    low, high = ends
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return []
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_text(value: float, step: float) -> str:
    """Write a round number with as many decimals as its step needs."""
    if abs(value) >= 1e6 or 0 < step < 1e-5:
        return f"{value:.3g}"
    return f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}".replace("-", "\u2212")


@dataclass(frozen=True)
class Frame:
    """A plotting area with two linear axes."""

    x_range: Sequence[float]
    y_range: Sequence[float]
    width: float = WIDTH
    height: float = HEIGHT
    left: float = 48
    right: float = 12
    top: float = 10
    bottom: float = 42
    whole: bool = False  # things that are counted

    @classmethod
    def fitting(cls, x_range: Sequence[float], y_range: Sequence[float], *, whole: bool = False) -> Frame:
        """Make room for the numbers beside the vertical axis, and for the last one below the horizontal axis."""
        longest = max((len(t) for _, t in _written(ticks(y_range))), default=3)
        frame = cls(x_range, y_range, left=26 + 7.4 * longest, whole=whole)
        ends = (frame.x(v) + 3.7 * len(t) for v, t in _written(ticks(x_range)))
        return replace(frame, right=max(frame.right, frame.right + max(ends, default=0.0) - frame.width))

    def x(self, value: float) -> float:
        """Place on the horizontal axis."""
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        """Place on the vertical axis."""
        low, high = self.y_range
        return self.height - self.bottom - (value - low) / (high - low) * (self.height - self.top - self.bottom)

    def at(self, x: float, y: float) -> Point:
        """Place both."""
        return self.x(x), self.y(y)

    def clip(self, name: str) -> str:
        """Define the plotting area under a name, so that nothing is drawn outside it."""
        wide, high = self.width - self.left - self.right, self.height - self.top - self.bottom
        room = 3  # for half the width of a line that runs along the edge
        area = tag("rect", x=self.left - room, y=self.top - room, width=wide + 2 * room, height=high + 2 * room)
        return tag("clipPath", area, id=name)

    def axes(self, x_label: str, y_label: str, *, x_ticks: bool = True) -> list[str]:
        """Draw a quiet grid, round numbers, and what the axes mean."""
        bottom, right = self.height - self.bottom, self.width - self.right
        marks = [v for v in ticks(self.y_range) if not self.whole or abs(v - round(v)) < 1e-9]
        parts = [path([(self.left, self.y(v)), (right, self.y(v))], "grid") for v in marks]
        parts += [text(t, self.left - 6, self.y(v) + 4, anchor="end") for v, t in _written(marks)]
        if x_ticks:
            marks = ticks(self.x_range)
            parts += [path([(self.x(v), bottom), (self.x(v), bottom + 4)], "axis") for v in marks]
            parts += [text(t, self.x(v), bottom + 17) for v, t in _written(marks)]
        parts.append(path([(self.left, bottom), (right, bottom)], "axis"))
        middle = self.top + (bottom - self.top) / 2
        parts.append(text(x_label, self.left + (right - self.left) / 2, self.height - 7, "name"))
        turn = f"rotate(-90 12 {short(middle)})"
        return [*parts, text(y_label, 12, middle, "name", transform=turn)] if y_label else parts


def _written(marks: list[float]) -> list[tuple[float, str]]:
    step = marks[1] - marks[0] if len(marks) > 1 else 1.0
    return [(v, tick_text(0.0 if abs(v) < step / 1e6 else v, step)) for v in marks]


def cut(words: str, longest: int) -> str:
    """Cut words that have no room."""
    return words if len(words) <= max(longest, 2) else words[: max(longest, 2) - 1] + "\u2026"
