"""Charts as SVG: one function draws every `Chart`, one the scale at the top of the page.

Markup is escaped, so that it is safe to put into a page. Colours come from classes that the page's style sheet defines,
so that dark mode and print need no second drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise

from .records import Box, Chart, Line, Score
from .words import between, number

WIDTH, HEIGHT = 360, 264
#: Blue, green and vermillion of Okabe and Ito's palette, each with its own dash, so that colour is never alone.
SERIES = ("s1 d1", "s3 d3", "s2 d2")
#: Kinds of boxes, by their place in `Chart.series`.
BOXES = ("bar s1", "hatch s2", "bar faint")
#: Letters of a name that have room beside a bar; longer names stand above their bars.
LONGEST_BESIDE = 18
#: A cell is never darker than this, so that its numbers can be read on paper and on a dark screen.
DARKEST = 0.5


# ---- pieces --------------------------------------------------------------------------------------------------------
def tag(name: str, *content: str, **attributes: str | float) -> str:
    """Write an element; attributes are escaped, content is markup already. `class_` is class, `_` becomes `-`."""
    written = "".join(f' {k.rstrip("_").replace("_", "-")}="{escape(short(v))}"' for k, v in attributes.items())
    inside = "".join(content)
    return f"<{name}{written}>{inside}</{name}>" if inside else f"<{name}{written}/>"


def short(value: str | float) -> str:
    """Write a coordinate with one decimal."""
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def text(words: str, x: float, y: float, class_: str = "label", anchor: str = "middle", **more: str | float) -> str:
    """Write a line of text."""
    return tag("text", escape(words), x=x, y=y, class_=class_, text_anchor=anchor, **more)


def titled(words: str, *elements: str, name: str = "g", **attributes: str | float) -> str:
    """Group elements under words that appear under the pointer and that screen readers say."""
    return tag(name, tag("title", escape(words)), *elements, **attributes)


def path(points: Iterable[tuple[float, float]], class_: str, end: str = "") -> str:
    """Draw a line through points; "Z" as its end closes it."""
    return tag("path", d="M" + "L".join(f"{short(x)},{short(y)}" for x, y in points) + end, class_=class_)


def diamond(x: float, y: float, r: float) -> str:
    """Mark what stands beside the honest number."""
    return path([(x, y - r), (x + r, y), (x, y + r), (x - r, y)], "hollow s2", "Z")


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


def written(marks: list[float]) -> list[tuple[float, str]]:
    """Write round numbers with as many decimals as their step needs."""
    step, found = marks[1] - marks[0] if len(marks) > 1 else 1.0, []
    for value in marks:
        v = 0.0 if abs(value) < step / 1e6 else value
        is_plain = abs(v) < 1e6 and step >= 1e-5
        shown = f"{v:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}" if is_plain else f"{v:.3g}"
        found.append((value, shown.replace("-", "\u2212") if is_plain else shown))
    return found


def cut(words: str, longest: int) -> str:
    """Cut words that have no room."""
    return words if len(words) <= longest else words[: longest - 1] + "\u2026"


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
    above: bool = False  # whether names of the vertical axis stand above their rows

    @classmethod
    def of(cls, chart: Chart) -> Frame:
        """Make room for the names or numbers beside the axes."""
        ends = chart.x_range, chart.y_range
        if chart.x_names:  # cells, as high as wide
            n = len(chart.x_names)
            side = min(76.0, (WIDTH - 108) / n)
            return cls(*ends, height=46 + side * n, left=100, right=WIDTH - 100 - side * n, top=34, bottom=12)
        if chart.y_names:
            above = any(len(name) > LONGEST_BESIDE for name in chart.y_names)
            row, left, bottom = 38.0 if above else 22.0, 16.0 if above else 156.0, 42.0 if chart.x_label else 30.0
            height = row * len(chart.y_names) + 10 + bottom
            frame = cls(*ends, height=height, left=left, bottom=bottom, above=above)
        else:
            longest = max((len(t) for _, t in written(ticks(chart.y_range))), default=3)
            frame = cls(*ends, left=26 + 7.4 * longest)
        numbers = written(ticks(chart.x_range, 4 if chart.y_names else 5))
        last = max((frame.x(v) + 3.7 * len(t) for v, t in numbers), default=0.0)
        return replace(frame, right=max(frame.right, frame.right + last - frame.width))

    def x(self, value: float) -> float:
        """Place on the horizontal axis."""
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        """Place on the vertical axis; where names stand above their rows, a bar leaves room for its name."""
        low, high = self.y_range
        share = (value + 0.2 * self.above - low) / (high - low)
        return self.height - self.bottom - share * (self.height - self.top - self.bottom)

    def at(self, x: Iterable[float], y: Iterable[float | None], stepped: bool = False) -> list[tuple[float, float]]:
        """Place points, without those that are undefined; steps go to the right first, then up or down."""
        points = [(self.x(a), self.y(b)) for a, b in zip(x, y, strict=True) if b is not None]
        if not stepped:
            return points
        return [*points[:1], *(p for (_, before), (x, y) in pairwise(points) for p in ((x, before), (x, y)))]


# ---- charts --------------------------------------------------------------------------------------------------------
def draw(chart: Chart) -> str:
    """Draw a chart."""
    frame, drawn = Frame.of(chart), []
    if chart.reference is not None:
        drawn.append(path(frame.at(chart.reference[::2], chart.reference[1::2]), "reference"))
    drawn += [_box(frame, box) for box in chart.boxes]
    dots = frame.at(chart.points_x, chart.points_y)
    drawn += [tag("circle", cx=x, cy=y, r=2, class_="dot") for x, y in dots]
    drawn += [part for i, line in enumerate(chart.lines) for part in _band(frame, line, SERIES[i % 3])]
    for i, line in enumerate(chart.lines):
        points = frame.at(line.x, line.y)
        drawn.append(path(frame.at(line.x, line.y, line.stepped), f"stroke {SERIES[i % 3]}"))
        if line.marked:
            drawn += [tag("circle", cx=x, cy=y, r=3.5, class_=f"fill {SERIES[i % 3]}") for x, y in points]
    for whisker in chart.whiskers:  # an interval and, unless a bar shows it, its value
        y = frame.y(whisker.y)
        parts = path([(frame.x(v), y) for v in (whisker.low, whisker.high)], "whisker" if chart.boxes else "stroke s1")
        if whisker.value is not None:
            x = frame.x(whisker.value)
            parts += diamond(x, y, 7) if whisker.hollow else tag("circle", cx=x, cy=y, r=4.5, class_="fill s1")
        drawn.append(titled(whisker.hint, parts) if whisker.hint else parts)
    marks = []  # not cut off where they lie on an axis
    for mark in chart.marks:
        x, y, edge = frame.x(mark.x), frame.y(mark.y), frame.width - frame.right
        marks.append(titled(mark.text, tag("circle", cx=x, cy=y, r=6, class_="hollow s2")))
        place = (x + 11, y + 16) if x + 11 + 6.6 * len(mark.text) < edge else (edge, y + 20)
        marks.append(text(mark.text, *place, "label mark-text", "start" if place[0] < edge else "end"))
    room = 3  # for half the width of a line that runs along the edge
    area = tag(
        "rect", x=frame.left - room, y=frame.top - room, width=frame.width - frame.left - frame.right + 2 * room,
        height=frame.height - frame.top - frame.bottom + 2 * room,
    )  # fmt: skip
    clip = tag("clipPath", area, id=f"clip-{chart.name}")
    inside = tag("g", *drawn, clip_path=f"url(#clip-{chart.name})")
    said = [f"{line.label}: {line.text}" if line.text else line.label for line in chart.lines]
    told = f"{chart.title}. {'; '.join([*said, *(mark.text for mark in chart.marks)])}".strip()
    axes = _names_of_cells(frame, chart) if chart.x_names else _axes(frame, chart)
    box = f"0 0 {WIDTH} {short(frame.height)}"
    return titled(told, clip, *axes, inside, *marks, name="svg", viewBox=box, role="img", class_="chart")


def _box(frame: Frame, box: Box) -> str:
    """Draw a bar, or a cell with the words that have room in it."""
    (left, right), (top, bottom) = (sorted(map(frame.x, (box.x0, box.x1))), sorted(map(frame.y, (box.y0, box.y1))))
    wide, high, middle = right - left, bottom - top, (left + right) / 2
    if box.tint is None:
        gap = 0.5 if wide > 4 else 0.0
        bar = tag("rect", x=left + gap, y=top, width=max(wide - 2 * gap, 0.5), height=high, class_=BOXES[box.series])
        return titled(box.hint, bar) if box.hint else bar
    cell = tag("rect", x=left + 1, y=top + 1, width=wide - 2, height=high - 2, rx=3, class_="cell s1",
               fill_opacity=f"{DARKEST * box.tint:.2f}")  # fmt: skip
    first, *others = box.words or ("",)
    if wide <= 50:  # the small print needs room
        words = [text(first.removesuffix("\u202f%"), middle, (top + bottom) / 2 + 4, "")] if wide > 20 else []
        return titled(box.hint, cell, *words)
    place = (top + bottom) / 2 - 6
    small = (text(line, middle, place + 14 * (i + 1), "small") for i, line in enumerate(others))
    return titled(box.hint, cell, text(first, middle, place, "big"), *small)


def _band(frame: Frame, line: Line, series: str) -> list[str]:
    known = [each for each in zip(line.x, line.low, line.high, strict=True) if None not in each]
    if all(low == high for _, low, high in known):  # a line that has no band
        return []
    x, low, high = zip(*known, strict=True)
    return [path([*frame.at(x, high, line.stepped), *reversed(frame.at(x, low, line.stepped))], f"band {series}", "Z")]


def _axes(frame: Frame, chart: Chart) -> list[str]:
    """Draw a quiet grid, round numbers or names, and what the axes mean."""
    bottom, right, parts = frame.height - frame.bottom, frame.width - frame.right, []
    if chart.y_names:
        for v, t in written(ticks(frame.x_range, 4)):
            parts += [path([(frame.x(v), frame.top), (frame.x(v), bottom)], "grid"), text(t, frame.x(v), bottom + 17)]
        # A name above its bar begins behind the line at 0, which would cross it out.
        zero = frame.x(0) if frame.left <= frame.x(0) < frame.width / 4 else frame.left
        for i, name in enumerate(chart.y_names):
            if frame.above:
                label = text(cut(name, 50), zero + 4, frame.y(i - 0.27) - 5, "label mark-text", "start")
            else:
                label = text(cut(name, LONGEST_BESIDE), frame.left - 8, frame.y(i) + 4, anchor="end")
            parts.append(titled(name, label))
        if frame.x_range[0] <= 0 <= frame.x_range[1]:
            parts.append(path([(frame.x(0), frame.top), (frame.x(0), bottom)], "axis"))
    else:
        is_counted = len(chart.series) > 1  # rounds and configurations are whole numbers
        x_marks, y_marks = (
            written([v for v in ticks(ends) if not is_counted or abs(v - round(v)) < 1e-9])
            for ends in (frame.x_range, frame.y_range)
        )
        for v, t in y_marks:
            parts.append(path([(frame.left, frame.y(v)), (right, frame.y(v))], "grid"))
            parts.append(text(t, frame.left - 6, frame.y(v) + 4, anchor="end"))
        for v, t in x_marks:
            parts += [path([(frame.x(v), bottom), (frame.x(v), bottom + 4)], "axis"), text(t, frame.x(v), bottom + 17)]
        parts.append(path([(frame.left, bottom), (right, bottom)], "axis"))
        middle = frame.top + (bottom - frame.top) / 2
        parts.append(text(chart.y_label, 12, middle, "name", transform=f"rotate(-90 12 {short(middle)})"))
    name = text(chart.x_label, frame.left + (right - frame.left) / 2, frame.height - 7, "name")
    return [*parts, name] if chart.x_label else parts


def _names_of_cells(frame: Frame, chart: Chart) -> list[str]:
    """Write names above the columns and beside the rows of cells; numbers stand for names that have no room."""
    side, n = frame.x(1) - frame.x(0), len(chart.x_names)
    middle = frame.top + side * n / 2
    parts = [text(chart.x_label, frame.left + side * n / 2, 12, "name")]
    parts.append(text(chart.y_label, 14, middle, "name", transform=f"rotate(-90 14 {short(middle)})"))
    is_numbered = any(len(name) > int(side / 6.5) for name in chart.x_names)
    for i, name in enumerate(chart.x_names):
        head, row = (str(i + 1), f"{i + 1}: {cut(name, 8)}") if is_numbered else (name, cut(name, 11))
        parts.append(titled(name, text(head, frame.x(i), 28)))
        parts.append(titled(name, text(row, frame.left - 8, frame.y(i) + 4, anchor="end")))
    return parts


def key(chart: Chart) -> list[tuple[str, str]]:
    """Say which line and which kind of box is which: markup of a swatch and its words; empty where there is one."""
    found = [(f'<i class="box b{i + 1}"></i>', name) for i, name in enumerate(chart.series) if name]
    if len(chart.lines) > 1 or (chart.lines and chart.lines[0].text):
        for i, line in enumerate(chart.lines):
            piece = tag("svg", path([(1, 6), (27, 6)], f"stroke {SERIES[i % 3]}"), viewBox="0 0 28 12",
                        class_="swatch", aria_hidden="true")  # fmt: skip
            found.append((piece, f"{line.label}: {line.text}" if line.text else line.label))
    return found


def scale(score: Score) -> str:
    """Draw the honest number with its interval, and the naive one, on one line."""
    values = [score.value, score.naive, *(score.interval or ())]
    low, high, line = min(values), max(values), 58
    room = 0.18 * (high - low) or 0.05 * abs(high) or 1.0
    frame = Frame((low - room, high + room), (0, 1), height=112, left=8, right=8)
    parts = [path([(8, line), (WIDTH - 8, line)], "axis")]
    for v in (v for v in ticks(frame.x_range) if 22 <= frame.x(v) <= WIDTH - 22):
        parts.append(path([(frame.x(v), line - 4), (frame.x(v), line + 4)], "axis"))
        parts.append(text(number(v, min(score.digits, 3)), frame.x(v), line + 46))
    if score.interval is not None:
        start, stop = map(frame.x, score.interval)
        parts.append(tag("rect", x=start, y=line - 8, width=max(stop - start, 1), height=16, rx=8, class_="band s1"))
    honest, naive = frame.x(score.value), frame.x(score.naive)
    kept = [min(max(x, 60), WIDTH - 60) for x in (honest, naive)]  # a centred label stays inside the picture
    said = [number(v, score.digits) for v in (score.value, score.naive)]
    parts += [tag("circle", cx=honest, cy=line, r=7, class_="fill s1"), diamond(naive, line, 8)]
    parts.append(text(f"honest {said[0]}", kept[0], line + 26, "mark s1"))
    parts.append(text(f"plain CV {said[1]}", kept[1], line - 18, "mark s2"))
    interval = "" if score.interval is None else f", interval {between(score.interval, score.digits)}"
    told = f"Honest score {said[0]}, plain cross-validation {said[1]}{interval}"
    return titled(told, *parts, name="svg", viewBox=f"0 0 {WIDTH} 112", role="img", class_="chart scale")


def tiny(share: float | None) -> str:
    """Draw a share as a small bar inside a cell of a table."""
    if share is None:
        return ""
    back = tag("rect", x=0, y=0, width=44, height=8, rx=2, class_="rail")
    front = tag("rect", x=0, y=0, width=44 * share, height=8, rx=2, class_="bar s1")
    return tag("svg", back, front, viewBox="0 0 44 8", class_="tiny", aria_hidden="true")
