"""Charts as SVG: one function draws every `Chart`.

Markup is escaped, so that it is safe to put into a page. Colours come from classes that the page's style sheet defines,
so that dark mode and print need no second drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise

from .records import Box, Chart, Line
from .words import clean

WIDTH, HEIGHT = 360, 264
#: Blue, green and vermillion of Okabe and Ito's palette, each with its own dash, so that colour is never alone.
SERIES = ("s1 d1", "s3 d3", "s2 d2")
#: Kinds of boxes, by their place in `Chart.series`.
BOXES = ("bar s1", "hatch s2", "bar faint")
#: A cell is never darker than this, so that its numbers can be read on paper and on a dark screen.
DARKEST = 0.5


def tag(name: str, *content: str, hint: str = "", **attributes: str | float) -> str:
    """Write an element; attributes are escaped, content is markup already. `class_` is class, `_` becomes `-`.

    `hint` appears under the pointer, and screen readers say it.
    """
    values = {k: v if isinstance(v, str) else f"{v:.1f}" for k, v in attributes.items()}
    written = "".join(f' {k.rstrip("_").replace("_", "-")}="{escape(v)}"' for k, v in values.items())
    title = f"<title>{escape(hint)}</title>" if hint else ""
    return f"<{name}{written}>{title}{''.join(content)}</{name}>"


def text(words: str, x: float, y: float, class_: str = "label", anchor: str = "middle", **more: str) -> str:
    """Write a line of text."""
    return tag("text", escape(words), x=x, y=y, class_=class_, text_anchor=anchor, **more)


def path(points: Iterable[tuple[float, float]], class_: str, end: str = "") -> str:
    """Draw a line through points; "Z" as its end closes it."""
    return tag("path", d="M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points) + end, class_=class_)


def ticks(ends: Sequence[float], wanted: int = 5, is_whole: bool = False) -> list[tuple[float, str]]:
    """Return round numbers between two ends, each as it is written, with as many decimals as their step needs."""
    low, high = ends
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return []
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw * 0.999)
    step = max(step, 1.0) if is_whole else step
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    is_plain = max(abs(low), abs(high)) < 1e6 and step >= 1e-5
    form = f",.{max(0, -math.floor(math.log10(step) + 1e-9))}f" if is_plain else ".3g"
    return [(i * step, format(i * step, form)) for i in places]


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
    lowered: float = 0.0  # by how much of a row bars stand lower, below their names

    @classmethod
    def of(cls, chart: Chart) -> Frame:
        """Make room for the names or numbers beside the axes."""
        ends = chart.x_range, chart.y_range
        if chart.x_names:  # cells, as high as wide
            n = len(chart.x_names)
            side = min(76.0, (WIDTH - 108) / n)
            return cls(*ends, height=46 + side * n, left=100, right=WIDTH - 100 - side * n, top=34, bottom=12)
        if chart.y_names:
            bottom = 42.0 if chart.x_label else 30.0
            height = 36.0 * len(chart.y_names) + 10 + bottom
            frame = cls(*ends, height=height, left=16, bottom=bottom, lowered=0.2)
        else:
            frame = cls(*ends, left=26 + 7.4 * max((len(words) for _, words in ticks(chart.y_range)), default=3))
        last = max((frame.x(v) + 3.7 * len(words) for v, words in ticks(chart.x_range)), default=0.0)
        return replace(frame, right=max(frame.right, frame.right + last - frame.width))

    def x(self, value: float) -> float:
        """Place on the horizontal axis."""
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        """Place on the vertical axis."""
        low, high = self.y_range
        share = (value + self.lowered - low) / (high - low)
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    def at(self, x: Iterable[float], y: Iterable[float | None], stepped: bool = False) -> list[tuple[float, float]]:
        """Place points, without those that are undefined; steps go to the right first, then up or down."""
        points = [(self.x(a), self.y(b)) for a, b in zip(x, y, strict=True) if b is not None]
        if not stepped:
            return points
        return [*points[:1], *(p for (_, before), (x, y) in pairwise(points) for p in ((x, before), (x, y)))]


def draw(chart: Chart) -> str:
    """Draw a chart."""
    frame, drawn = Frame.of(chart), []
    if chart.reference is not None:
        drawn.append(path(frame.at(chart.reference[::2], chart.reference[1::2]), "reference"))
    drawn += [_box(frame, box) for box in chart.boxes]
    dots = frame.at(chart.points_x, chart.points_y)
    drawn += [tag("circle", cx=x, cy=y, r=2, class_="dot") for x, y in dots]
    for i, line in enumerate(chart.lines):
        drawn += _line(frame, line, SERIES[i % 3])
    for whisker in chart.whiskers:  # an interval and, unless a bar shows it, its value
        y = frame.y(whisker.y)
        parts = path([(frame.x(v), y) for v in (whisker.low, whisker.high)], "whisker" if chart.boxes else "stroke s1")
        if whisker.value is not None:
            x = frame.x(whisker.value)
            corners = [(x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y)]
            parts += (
                path(corners, "hollow s2", "Z") if whisker.hollow else tag("circle", cx=x, cy=y, r=5, class_="fill s1")
            )
        drawn.append(tag("g", parts, hint=whisker.hint))
    marks = []  # not cut off where they lie on an axis
    for mark in chart.marks:
        x, y, edge = frame.x(mark.x), frame.y(mark.y), frame.width - frame.right
        marks.append(tag("g", tag("circle", cx=x, cy=y, r=6, class_="hollow s2"), hint=mark.text))
        place = (x + 11, y + 16) if x + 11 + 6.6 * len(mark.text) < edge else (edge, y + 20)
        marks.append(text(mark.text, *place, "label mark-text", "start" if place[0] < edge else "end"))
    room = 3  # for half the width of a line that runs along the edge
    area = tag(
        "rect", x=frame.left - room, y=frame.top - room, width=frame.width - frame.left - frame.right + 2 * room,
        height=frame.height - frame.top - frame.bottom + 2 * room,
    )  # fmt: skip
    clip = tag("clipPath", area, id=f"clip-{chart.name}")
    inside = tag("g", *drawn, clip_path=f"url(#clip-{chart.name})")
    told = "; ".join([line.said for line in chart.lines] + [mark.text for mark in chart.marks])
    axes = _names_of_cells(frame, chart) if chart.x_names else _axes(frame, chart)
    box = f"0 0 {WIDTH} {frame.height:.1f}"
    return tag("svg", clip, *axes, inside, *marks, hint=f"{chart.title}. {told}".strip(), viewBox=box, role="img",
               class_="chart")  # fmt: skip


def _box(frame: Frame, box: Box) -> str:
    """Draw a bar, or a cell with the words that have room in it."""
    (left, right), (top, bottom) = (sorted(map(frame.x, (box.x0, box.x1))), sorted(map(frame.y, (box.y0, box.y1))))
    wide, high, middle = right - left, bottom - top, (left + right) / 2
    if box.tint is None:
        gap = 0.5 if wide > 4 else 0.0
        bar = tag("rect", x=left + gap, y=top, width=max(wide - 2 * gap, 0.5), height=high, class_=BOXES[box.series])
        return tag("g", bar, hint=box.hint)
    cell = tag("rect", x=left + 1, y=top + 1, width=wide - 2, height=high - 2, rx=3, class_="cell s1",
               fill_opacity=f"{DARKEST * box.tint:.2f}")  # fmt: skip
    first, *others = box.words
    if wide <= 50:  # the small print needs room
        words = [text(first.removesuffix("\u202f%"), middle, (top + bottom) / 2 + 4, "")] if wide > 20 else []
    else:
        place = (top + bottom) / 2 + 4 - 7 * len(others)
        small = (text(line, middle, place + 15 * (i + 1), "small") for i, line in enumerate(others))
        words = [text(first, middle, place, "big"), *small]
    return tag("g", cell, *words, hint=box.hint)


def _line(frame: Frame, line: Line, series: str) -> list[str]:
    """Draw a line, below it the band where it has one, and on it the points where they are to be seen."""
    drawn, known = [], [each for each in zip(line.x, line.low, line.high, strict=True) if None not in each]
    if any(low != high for _, low, high in known):
        x, low, high = zip(*known, strict=True)
        around = [*frame.at(x, high, line.stepped), *reversed(frame.at(x, low, line.stepped))]
        drawn.append(path(around, f"band {series}", "Z"))
    drawn.append(path(frame.at(line.x, line.y, line.stepped), f"stroke {series}"))
    points = frame.at(line.x, line.y) if line.marked else []
    return drawn + [tag("circle", cx=x, cy=y, r=3.5, class_=f"fill {series}") for x, y in points]


def _axes(frame: Frame, chart: Chart) -> list[str]:
    """Draw a quiet grid, round numbers or names, and what the axes mean."""
    bottom, right, parts = frame.height - frame.bottom, frame.width - frame.right, []
    is_whole = len(chart.series) > 1  # rounds and configurations
    for v, words in ticks(frame.x_range, is_whole=is_whole):
        top, kind = (frame.top, "grid") if chart.y_names else (bottom + 4, "axis")
        parts += [path([(frame.x(v), top), (frame.x(v), bottom)], kind), text(words, frame.x(v), bottom + 17)]
    for i, name in enumerate(chart.y_names):
        label = text(clean(name, 50), frame.left + 4, frame.y(i - 0.27) - 5, "label row-name", "start")
        parts.append(tag("g", label, hint=name))
    if not chart.y_names:
        for v, words in ticks(frame.y_range, is_whole=is_whole):
            parts.append(path([(frame.left, frame.y(v)), (right, frame.y(v))], "grid"))
            parts.append(text(words, frame.left - 6, frame.y(v) + 4, anchor="end"))
        parts.append(path([(frame.left, bottom), (right, bottom)], "axis"))
        middle = frame.top + (bottom - frame.top) / 2
        parts.append(text(chart.y_label, 12, middle, "name", transform=f"rotate(-90 12 {middle:.1f})"))
    elif frame.x_range[0] <= 0 <= frame.x_range[1]:
        parts.insert(0, path([(frame.x(0), frame.top), (frame.x(0), bottom)], "axis"))
    name = text(chart.x_label, frame.left + (right - frame.left) / 2, frame.height - 7, "name")
    return [*parts, name] if chart.x_label else parts


def _names_of_cells(frame: Frame, chart: Chart) -> list[str]:
    """Write names above the columns and beside the rows of cells; numbers stand for names that have no room."""
    side, n = frame.x(1) - frame.x(0), len(chart.x_names)
    middle = frame.top + side * n / 2
    parts = [text(chart.x_label, frame.left + side * n / 2, 12, "name")]
    parts.append(text(chart.y_label, 14, middle, "name", transform=f"rotate(-90 14 {middle:.1f})"))
    is_numbered = any(len(name) > int(side / 6.5) for name in chart.x_names)
    for i, name in enumerate(chart.x_names):
        head, row = (str(i + 1), f"{i + 1}: {clean(name, 8)}") if is_numbered else (name, clean(name, 11))
        parts.append(tag("g", text(head, frame.x(i), 28), hint=name))
        parts.append(tag("g", text(row, frame.left - 8, frame.y(i) + 4, anchor="end"), hint=name))
    return parts


def key(chart: Chart) -> list[tuple[str, str]]:
    """Say which line and which kind of box is which: markup of a swatch and its words; empty where there is one."""
    found = [(f'<i class="box b{i + 1}"></i>', name) for i, name in enumerate(chart.series) if name]
    if len(chart.lines) > 1 or (chart.lines and chart.lines[0].text):
        for i, line in enumerate(chart.lines):
            piece = tag("svg", path([(1, 6), (27, 6)], f"stroke {SERIES[i % 3]}"), viewBox="0 0 28 12",
                        class_="swatch", aria_hidden="true")  # fmt: skip
            found.append((piece, line.said))
    return found
