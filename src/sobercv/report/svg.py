"""Charts as SVG: one function draws every `Chart`.

Markup is escaped, so that it is safe to put into a page. Colours come from classes that the page's style sheet defines,
so that dark mode and print need no second drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise

from .records import Box, Chart, Line
from .words import clean

WIDTH, HEIGHT = 360, 264
#: Blue, green and vermillion of Okabe and Ito's palette, each with its own dash, so that colour is never alone.
SERIES = ("s1 d1", "s3 d3", "s2 d2")
#: Over bars, lines have the colour of text: those of the palette are theirs.
OVER_BARS = ("ink d1", "ink d3", "ink d2")
#: Kinds of boxes, by their place in `Chart.series`.
BOXES = ("bar s1", "hatch s2", "bar faint")
#: A cell is never darker than this, so that its numbers can be read on paper and on a dark screen.
DARKEST = 0.5


def element(kind: str, inside: str = "", **attributes: float | str) -> str:
    """Write an element around markup; numbers have one decimal."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{value if isinstance(value, str) else f"{value:.1f}"}"'
        for name, value in attributes.items()
    )
    return f"<{kind}{written}>{inside}</{kind}>"


def path(points: Iterable[tuple[float, float]], class_: str, end: str = "") -> str:
    """Draw a line through points; "Z" as its end closes it."""
    return element("path", d=f"M{'L'.join(f'{x:.1f},{y:.1f}' for x, y in points)}{end}", class_=class_)


def text(words: str, x: float, y: float, class_: str = "label", anchor: str = "middle", **more: str) -> str:
    """Write a line of text; `more` are attributes."""
    return element("text", escape(words), x=x, y=y, class_=class_, text_anchor=anchor, **more)


def group(hint: str, *parts: str) -> str:
    """Put a hint on parts: it appears under the pointer, and screen readers say it."""
    return element("g", f"{element('title', escape(hint)) if hint else ''}{''.join(parts)}")


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


class Frame:
    """A picture, and in it the plotting area with two linear axes; beside it, room for names or numbers."""

    def __init__(self, chart: Chart) -> None:
        is_whole = len(chart.series) > 1  # rounds and configurations
        self.x_range, self.x_ticks = chart.x_range, ticks(chart.x_range, 12 if is_whole else 5, is_whole)
        self.y_range, self.y_ticks = chart.y_range, ticks(chart.y_range, is_whole=is_whole)
        self.top, self.bottom, self.right = 10.0, HEIGHT - 42.0, WIDTH - 12.0
        self.lowered = 0.0  # by how much of a row bars stand lower, below their names
        if chart.x_names:  # cells, as high as wide; numbers stand for names that have no room
            side = min(76.0 * len(chart.x_names), WIDTH - 108.0)
            self.left, self.right, self.bottom = 100.0, 100.0 + side, 10.0 + side
            is_numbered = max(map(len, chart.x_names)) * 6.5 > side / len(chart.x_names)
            rows = [f"{i}: {clean(n, 8)}" if is_numbered else clean(n, 11) for i, n in enumerate(chart.y_names, 1)]
            self.x_ticks = [(i, str(i + 1) if is_numbered else name) for i, name in enumerate(chart.x_names)]
            self.y_ticks = list(enumerate(rows))
        elif chart.y_names:
            self.left, self.bottom, self.lowered, self.y_ticks = 16.0, 10 + 36.0 * len(chart.y_names), 0.2, []
        else:
            self.left = 26 + 7.4 * max((len(words) for _, words in self.y_ticks), default=3)
        self.height = self.bottom + (42 if chart.x_label else 30)
        last = max((self.x(v) + 3.7 * len(words) for v, words in self.x_ticks), default=0.0)
        self.right -= max(0.0, last - WIDTH)

    def x(self, value: float) -> float:
        """Place on the horizontal axis."""
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Place on the vertical axis."""
        low, high = self.y_range
        return self.bottom - (value + self.lowered - low) / (high - low) * (self.bottom - self.top)

    def at(self, x: Iterable[float], y: Iterable[float | None], stepped: bool = False) -> list[tuple[float, float]]:
        """Place points, without those that are undefined; steps go to the right first, then up or down."""
        points = [(self.x(a), self.y(b)) for a, b in zip(x, y, strict=True) if b is not None]
        if not stepped:
            return points
        return [*points[:1], *(p for (_, before), (x, y) in pairwise(points) for p in ((x, before), (x, y)))]


def panels(chart: Chart) -> list[Chart]:
    """Return the chart, or one for each of its lines where their bands on top of each other would tell nothing."""
    if not chart.apart:
        return [chart]
    return [
        replace(chart, name=f"{chart.name}-{i}", title=f"{chart.title}: {line.label}", lines=(line,),
                sentence=f"{line.text}. This class against the rest.")
        for i, line in enumerate(chart.lines)
    ]  # fmt: skip


def draw(chart: Chart) -> str:
    """Draw a chart."""
    frame, drawn = Frame(chart), []
    if chart.reference is not None:
        drawn.append(path(frame.at(chart.reference[::2], chart.reference[1::2]), "reference"))
    drawn += [_box(frame, box) for box in chart.boxes]
    drawn += [element("circle", cx=x, cy=y, r=2, class_="dot") for x, y in frame.at(chart.points_x, chart.points_y)]
    for i, line in enumerate(chart.lines):
        drawn += _line(frame, line, (OVER_BARS if chart.boxes else SERIES)[i % 3])
    for whisker in chart.whiskers:  # an interval and, unless a bar shows it, its value
        y, kind = frame.y(whisker.y), "whisker" if chart.boxes else "stroke s1"
        parts = [path([(frame.x(whisker.low), y), (frame.x(whisker.high), y)], kind)]
        if whisker.value is not None and whisker.hollow:
            x = frame.x(whisker.value)
            parts.append(path([(x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y)], "hollow s2", "Z"))
        elif whisker.value is not None:
            parts.append(element("circle", cx=frame.x(whisker.value), cy=y, r=5, class_="fill s1"))
        drawn.append(group(whisker.hint, *parts))
    # Not cut off where they lie on an axis.
    marks = [element("circle", cx=frame.x(mark.x), cy=frame.y(mark.y), r=6, class_="hollow s2") for mark in chart.marks]
    # Half the width of a line that runs along the edge is within the area that is not cut off.
    wide, high, clip = frame.right - frame.left + 6, frame.bottom - frame.top + 6, escape(f"clip-{chart.name}")
    area = element("rect", x=frame.left - 3, y=frame.top - 3, width=wide, height=high)
    told = "; ".join([line.said for line in chart.lines] + [mark.text for mark in chart.marks])
    inside = (
        f"<title>{escape(f'{chart.title}. {told}'.strip())}</title>"
        f'<clipPath id="{clip}">{area}</clipPath>{"".join(_axes(frame, chart))}'
        f'<g clip-path="url(#{clip})">{"".join(drawn)}</g>{"".join(marks)}'
    )
    return element("svg", inside, viewBox=f"0 0 {WIDTH} {frame.height:.1f}", role="img", class_="chart")


def _box(frame: Frame, box: Box) -> str:
    """Draw a bar, or a cell with the words that have room in it."""
    (left, right), (top, bottom) = sorted(map(frame.x, (box.x0, box.x1))), sorted(map(frame.y, (box.y0, box.y1)))
    wide, high, x, y = right - left, bottom - top, (left + right) / 2, (top + bottom) / 2 + 4
    if box.tint is None:
        gap, kind = 0.5 if wide > 4 else 0.0, BOXES[box.series]
        bar = element("rect", x=left + gap, y=top, width=max(wide - 2 * gap, 0.5), height=high, class_=kind)
        return group(box.hint, bar)
    cell = element("rect", x=left + 1, y=top + 1, width=wide - 2, height=high - 2, rx=3, class_="cell s1",
                   fill_opacity=f"{DARKEST * box.tint:.2f}")  # fmt: skip
    share, counted = box.words
    if wide <= 50:  # the small print needs room
        return group(box.hint, cell, text(share.removesuffix("\u202f%"), x, y, ""))
    return group(box.hint, cell, text(share, x, y - 7, "big"), text(counted, x, y + 8, "small"))


def _line(frame: Frame, line: Line, series: str) -> list[str]:
    """Draw a line, below it the band where it has one, and on it the points where they are to be seen."""
    drawn, known = [], [each for each in zip(line.x, line.low, line.high, strict=True) if None not in each]
    if any(low != high for _, low, high in known):
        x, low, high = zip(*known, strict=True)
        around = [*frame.at(x, high, line.stepped), *reversed(frame.at(x, low, line.stepped))]
        drawn.append(path(around, f"band {series}", "Z"))
    drawn.append(path(frame.at(line.x, line.y, line.stepped), f"stroke {series}"))
    points = frame.at(line.x, line.y) if line.marked else []
    return drawn + [element("circle", cx=x, cy=y, r=3.5, class_=f"fill {series}") for x, y in points]


def _axes(frame: Frame, chart: Chart) -> list[str]:
    """Draw a quiet grid, round numbers or names, and what the axes mean."""
    left, right, bottom, parts = frame.left, frame.right, frame.bottom, []
    middle, is_crossed = (frame.top + bottom) / 2, bool(chart.y_names) and not chart.x_names
    for v, words in frame.x_ticks:
        x, (top, kind) = frame.x(v), (frame.top, "grid") if is_crossed else (bottom + 4, "axis")
        parts += [path([(x, top), (x, bottom)], kind), text(words, x, bottom + 17)]
    for v, words in frame.y_ticks:
        y = frame.y(v)
        parts += [path([(left, y), (right, y)], "grid"), text(words, left - 6, y + 4, anchor="end")]
    if is_crossed:
        for i, name in enumerate(chart.y_names):
            parts.append(group(name, text(clean(name, 50), left + 4, frame.y(i - 0.27) - 5, "label row-name", "start")))
        if frame.x_range[0] <= 0 <= frame.x_range[1]:
            parts.insert(0, path([(frame.x(0), frame.top), (frame.x(0), bottom)], "axis"))
    else:
        parts.append(path([(left, bottom), (right, bottom)], "axis"))
        parts.append(text(chart.y_label, 12, middle, "name", transform=f"rotate(-90 12 {middle:.1f})"))
    name = text(chart.x_label, (left + right) / 2, frame.height - 7, "name")
    return [*parts, name] if chart.x_label else parts


def key(chart: Chart) -> list[tuple[str, str]]:
    """Say which line, mark and kind of box is which: markup of a swatch and its words; empty where there is one."""
    found = [(f'<i class="box b{i + 1}"></i>', name) for i, name in enumerate(chart.series) if name]
    drawn = []
    if not chart.apart and (len(chart.lines) > 1 or any(line.text for line in chart.lines)):
        for i, line in enumerate(chart.lines):
            stroke = f"stroke {(OVER_BARS if chart.boxes else SERIES)[i % 3]}"
            drawn.append((path([(1, 6), (27, 6)], stroke), line.said))
    drawn += [(element("circle", cx=14, cy=6, r=4.5, class_="hollow s2"), mark.text) for mark in chart.marks]
    swatch = '<svg viewBox="0 0 28 12" class="swatch" aria-hidden="true">{}</svg>'.format
    return [*found, *((swatch(shape), words) for shape, words in drawn)]
