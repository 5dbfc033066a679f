"""Charts as SVG: one function draws every `Chart`, one the scale at the top of the page.

Markup is escaped, so that it is safe to put into a page. Colours come from classes that the page's style sheet defines,
so that dark mode and print need no second drawing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise

from .records import Box, Chart, Line, Mark, Score, Whisker
from .words import between, number

Point = tuple[float, float]
WIDTH, HEIGHT = 360, 264
#: Blue, green and vermillion of Okabe and Ito's palette, each with its own dash, so that colour is never alone.
SERIES = ("s1 d1", "s3 d3", "s2 d2")
#: Kinds of boxes, by their place in `Chart.series`.
BOXES = ("bar s1", "hatch s2", "bar faint")
#: Letters of a name that have room beside a bar; longer names stand above their bars.
LONGEST_BESIDE = 18
#: A cell is never darker than this, so that its numbers can be read on paper and on a dark screen.
DARKEST = 0.5


def draw(chart: Chart, only: int | None = None) -> str:
    """Draw a chart; `only` draws one of its lines."""
    frame = Frame.of(chart)
    name = f"clip-{chart.name}{'' if only is None else only}"
    drawn: list[str] = []
    if chart.reference is not None:
        x0, y0, x1, y1 = chart.reference
        drawn.append(path([frame.at(x0, y0), frame.at(x1, y1)], "reference"))
    drawn += [part for box in chart.boxes for part in _box(frame, box)]
    drawn += [
        tag("circle", cx=frame.x(x), cy=frame.y(y), r=2, class_="dot")
        for x, y in zip(chart.points_x, chart.points_y, strict=True)
    ]
    lines = [(i, line) for i, line in enumerate(chart.lines) if only is None or i == only]
    numbered = [(0 if only is not None else i, line) for i, line in lines]
    drawn += [_band(frame, line, i) for i, line in numbered]
    drawn += [part for i, line in numbered for part in _line(frame, line, i)]
    drawn += [_whisker(frame, whisker, over_box=bool(chart.boxes)) for whisker in chart.whiskers]
    marks = [part for mark in chart.marks for part in _mark(frame, mark)]  # not cut off where it lies on an axis
    said = [f"{line.label}: {line.text}" if line.text else line.label for _, line in lines]
    told = "; ".join([*said, *(mark.text for mark in chart.marks)])
    inside = tag("g", *drawn, clip_path=f"url(#{name})")
    parts = [frame.clip(name), *frame.axes(chart), inside, *marks]
    return picture(parts, f"{chart.title}. {told}".strip(), height=frame.height)


def _box(frame: Frame, box: Box) -> Iterator[str]:
    """Draw a bar, or a cell with the words that have room in it."""
    (left, right), (top, bottom) = (
        sorted((frame.x(box.x0), frame.x(box.x1))),
        sorted((frame.y(box.y0), frame.y(box.y1))),
    )
    wide, high = right - left, bottom - top
    if box.tint is None:
        gap = 0.5 if wide > 4 else 0.0
        bar = tag("rect", x=left + gap, y=top, width=max(wide - 2 * gap, 0.5), height=high, class_=BOXES[box.series])
        yield titled(bar, box.hint) if box.hint else bar
        return
    cell = tag("rect", x=left + 1, y=top + 1, width=wide - 2, height=high - 2, rx=3, class_="cell s1",
               fill_opacity=f"{DARKEST * box.tint:.2f}")  # fmt: skip
    first, *others = box.words or ("",)
    shown = others if wide > 50 else []  # the small print needs room
    place = (top + bottom) / 2 + (-6 if shown else 4)
    first = first if shown else first.removesuffix("\u202f%")
    written = [text(first, (left + right) / 2, place, "big" if shown else "")] if wide > 20 else []
    written += [text(line, (left + right) / 2, place + 14 * (i + 1), "small") for i, line in enumerate(shown)]
    yield titled("".join([cell, *written]), box.hint)


def _whisker(frame: Frame, whisker: Whisker, over_box: bool) -> str:
    """Draw an interval and, unless a bar shows it, its value."""
    y, kind = frame.y(whisker.y), "whisker" if over_box else "stroke s1"
    parts = [path([(frame.x(whisker.low), y), (frame.x(whisker.high), y)], kind)]
    if whisker.value is not None:
        x = frame.x(whisker.value)
        dot = tag("circle", cx=x, cy=y, r=4.5, class_="fill s1")
        parts.append(diamond(x, y, 7, "hollow s2") if whisker.hollow else dot)
    return titled("".join(parts), whisker.hint) if whisker.hint else "".join(parts)


def _mark(frame: Frame, mark: Mark) -> Iterator[str]:
    """Draw a circle and its words beside it, on the side where there is room."""
    x, y = frame.at(mark.x, mark.y)
    yield titled(tag("circle", cx=x, cy=y, r=6, class_="hollow s2"), mark.text)
    right = x < frame.width / 2
    yield text(mark.text, x + (11 if right else -11), y + 16, "label mark-text", "start" if right else "end")


def _band(frame: Frame, line: Line, i: int) -> str:
    known = [
        (x, lo, hi) for x, lo, hi in zip(line.x, line.low, line.high, strict=True) if lo is not None and hi is not None
    ]
    if all(lo == hi for _, lo, hi in known):  # a line that has no band
        return ""
    upper = [frame.at(x, hi) for x, _, hi in known]
    lower = [frame.at(x, lo) for x, lo, _ in known]
    if line.stepped:
        upper, lower = steps(upper), steps(lower)
    return path([*upper, *reversed(lower)], f"band {SERIES[i % 3]}", closed=True)


def _line(frame: Frame, line: Line, i: int) -> Iterator[str]:
    known: list[Point] = [frame.at(x, y) for x, y in zip(line.x, line.y, strict=True) if y is not None]
    yield path(steps(known) if line.stepped else known, f"stroke {SERIES[i % 3]}")
    if line.marked:
        yield from (tag("circle", cx=x, cy=y, r=3.5, class_=f"fill {SERIES[i % 3]}") for x, y in known)


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
    low, high = min(values), max(values)
    room = 0.18 * (high - low) or 0.05 * abs(high) or 1.0
    frame = Frame((low - room, high + room), (0, 1), height=112, left=8, right=8)
    line = 58
    marks = [v for v in ticks(frame.x_range) if 22 <= frame.x(v) <= WIDTH - 22]
    parts = [path([(8, line), (WIDTH - 8, line)], "axis")]
    parts += [path([(frame.x(v), line - 4), (frame.x(v), line + 4)], "axis") for v in marks]
    parts += [text(number(v, min(score.digits, 3)), frame.x(v), line + 46, "label") for v in marks]
    if score.interval is not None:
        start, stop = (frame.x(v) for v in score.interval)
        parts.append(tag("rect", x=start, y=line - 8, width=max(stop - start, 1), height=16, rx=8, class_="band s1"))
    honest, naive = frame.x(score.value), frame.x(score.naive)
    kept = [min(max(x, 60), WIDTH - 60) for x in (honest, naive)]  # a centred label stays inside the picture
    said = [number(v, score.digits) for v in (score.value, score.naive)]
    parts.append(tag("circle", cx=honest, cy=line, r=7, class_="fill s1"))
    parts.append(diamond(naive, line, 8, "hollow s2"))
    parts.append(text(f"honest {said[0]}", kept[0], line + 26, "mark s1"))
    parts.append(text(f"plain CV {said[1]}", kept[1], line - 18, "mark s2"))
    interval = "" if score.interval is None else f", interval {between(score.interval, score.digits)}"
    words = f"Honest score {said[0]}, plain cross-validation {said[1]}{interval}"
    return picture(parts, words, height=112, class_="scale")


def diamond(x: float, y: float, r: float, class_: str) -> str:
    """Mark what stands beside the honest number."""
    return path([(x, y - r), (x + r, y), (x, y + r), (x - r, y)], class_, closed=True)


def tiny(share: float | None) -> str:
    """Draw a share as a small bar inside a cell of a table."""
    if share is None:
        return ""
    back = tag("rect", x=0, y=0, width=44, height=8, rx=2, class_="rail")
    front = tag("rect", x=0, y=0, width=44 * share, height=8, rx=2, class_="bar s1")
    return tag("svg", back, front, viewBox="0 0 44 8", class_="tiny", aria_hidden="true")


# ---- pieces --------------------------------------------------------------------------------------------------------


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
    above: bool = False  # whether names of the vertical axis stand above their rows

    @classmethod
    def of(cls, chart: Chart) -> Frame:
        """Make room for the names or numbers beside the axes."""
        if chart.x_names:  # cells, as high as wide
            n = len(chart.x_names)
            side = min(76.0, (WIDTH - 108) / n)
            wide = WIDTH - 100 - side * n
            return cls(chart.x_range, chart.y_range, height=46 + side * n, left=100, right=wide, top=34, bottom=12)
        if chart.y_names:
            above = any(len(name) > LONGEST_BESIDE for name in chart.y_names)
            row, left = (38.0, 16.0) if above else (22.0, 156.0)
            bottom = 42.0 if chart.x_label else 30.0
            height = row * len(chart.y_names) + 10 + bottom
            return cls(chart.x_range, chart.y_range, height=height, left=left, bottom=bottom, above=above)
        return cls.fitting(chart.x_range, chart.y_range)

    @classmethod
    def fitting(cls, x_range: Sequence[float], y_range: Sequence[float]) -> Frame:
        """Make room for the numbers beside the vertical axis, and for the last one below the horizontal axis."""
        longest = max((len(t) for _, t in _written(ticks(y_range))), default=3)
        frame = cls(x_range, y_range, left=26 + 7.4 * longest)
        ends = (frame.x(v) + 3.7 * len(t) for v, t in _written(ticks(x_range)))
        return replace(frame, right=max(frame.right, frame.right + max(ends, default=0.0) - frame.width))

    def x(self, value: float) -> float:
        """Place on the horizontal axis."""
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        """Place on the vertical axis."""
        low, high = self.y_range
        if self.above:  # a bar leaves room for the name above it
            value += 0.2
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

    def axes(self, chart: Chart) -> list[str]:
        """Draw a quiet grid, round numbers or names, and what the axes mean."""
        bottom, right = self.height - self.bottom, self.width - self.right
        middle = self.top + (bottom - self.top) / 2
        if chart.x_names:
            return self._named(chart, middle)
        parts: list[str] = []
        if chart.y_names:
            for v, t in _written(ticks(self.x_range, 4)):
                parts += [path([(self.x(v), self.top), (self.x(v), bottom)], "grid"), text(t, self.x(v), bottom + 17)]
            # A name above its bar begins behind the line at 0, which would cross it out.
            zero = self.x(0) if self.left <= self.x(0) < self.width / 4 else self.left
            for i, name in enumerate(chart.y_names):
                place = (zero + 4, self.y(i - 0.27) - 5) if self.above else (self.left - 8, self.y(i) + 4)
                kind, anchor = ("label mark-text", "start") if self.above else ("label", "end")
                parts.append(titled(text(cut(name, 50 if self.above else LONGEST_BESIDE), *place, kind, anchor), name))
            if self.x_range[0] <= 0 <= self.x_range[1]:
                parts.append(path([(self.x(0), self.top), (self.x(0), bottom)], "axis"))
        else:
            counted = len(chart.series) > 1  # rounds and configurations are whole numbers
            marks = [v for v in ticks(self.y_range) if not counted or abs(v - round(v)) < 1e-9]
            parts = [path([(self.left, self.y(v)), (right, self.y(v))], "grid") for v in marks]
            parts += [text(t, self.left - 6, self.y(v) + 4, anchor="end") for v, t in _written(marks)]
            marks = [v for v in ticks(self.x_range) if not counted or abs(v - round(v)) < 1e-9]
            parts += [path([(self.x(v), bottom), (self.x(v), bottom + 4)], "axis") for v in marks]
            parts += [text(t, self.x(v), bottom + 17) for v, t in _written(marks)]
            parts.append(path([(self.left, bottom), (right, bottom)], "axis"))
        if chart.x_label:
            parts.append(text(chart.x_label, self.left + (right - self.left) / 2, self.height - 7, "name"))
        turn = f"rotate(-90 12 {short(middle)})"
        named = chart.y_label and not chart.y_names
        return [*parts, text(chart.y_label, 12, middle, "name", transform=turn)] if named else parts

    def _named(self, chart: Chart, middle: float) -> list[str]:
        """Write names above the columns and beside the rows of cells; numbers stand for names that have no room."""
        side, n = self.x(1) - self.x(0), len(chart.x_names)
        parts = [text(chart.x_label, self.left + side * n / 2, 12, "name")]
        parts.append(text(chart.y_label, 14, middle, "name", transform=f"rotate(-90 14 {short(middle)})"))
        numbered = any(len(name) > int(side / 6.5) for name in chart.x_names)
        for i, name in enumerate(chart.x_names):
            head, row = (str(i + 1), f"{cut(name, 9)} {i + 1}") if numbered else (name, cut(name, 11))
            parts.append(titled(text(head, self.x(i), 28), name))
            parts.append(titled(text(row, self.left - 8, self.y(i) + 4, anchor="end"), name))
        return parts


def _written(marks: list[float]) -> list[tuple[float, str]]:
    step = marks[1] - marks[0] if len(marks) > 1 else 1.0
    return [(v, tick_text(0.0 if abs(v) < step / 1e6 else v, step)) for v in marks]


def cut(words: str, longest: int) -> str:
    """Cut words that have no room."""
    return words if len(words) <= max(longest, 2) else words[: max(longest, 2) - 1] + "\u2026"
