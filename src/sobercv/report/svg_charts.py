"""The charts of the page: records in, SVG out; only places on paper are computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .records import Bar, Chart, ConfusionMatrix, Histogram, Line, Mark, Race, Score
from .svg import WIDTH, Frame, Point, cut, path, picture, short, steps, tag, text, ticks, titled
from .words import NOTHING, between, number, percent

#: Blue, green and vermillion of Okabe and Ito's palette, each with its own dash, so that colour is never alone.
SERIES = ("s1 d1", "s3 d3", "s2 d2")
#: Letters of a name that have room beside a bar.
LONGEST_BESIDE = 18


def diamond(x: float, y: float, r: float, class_: str) -> str:
    """Mark what plain cross-validation claims."""
    return path([(x, y - r), (x + r, y), (x, y + r), (x - r, y)], class_, closed=True)


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
    parts.append(tag("circle", cx=honest, cy=line, r=7, class_="fill s1"))
    parts.append(diamond(naive, line, 8, "hollow s2"))
    parts.append(text(f"honest {number(score.value, score.digits)}", _kept(honest), line + 26, "mark s1"))
    parts.append(text(f"plain CV {number(score.naive, score.digits)}", _kept(naive), line - 18, "mark s2"))
    words = (
        f"Honest score {number(score.value, score.digits)}, plain cross-validation {number(score.naive, score.digits)}"
    )
    interval = "" if score.interval is None else f", interval {between(score.interval, score.digits)}"
    return picture(parts, words + interval, height=112, class_="scale")


def _kept(x: float) -> float:
    """Keep a centred label inside the picture."""
    return min(max(x, 60), WIDTH - 60)


def histogram(bins: Histogram, score: Score) -> str:
    """Draw how the draws are spread, with the honest number, its interval and the naive one."""
    shown = [*bins.edges, score.naive]
    pad = 0.03 * (max(shown) - min(shown))
    frame = Frame.fitting((min(shown) - pad, max(shown) + pad), (0, max(bins.heights) * 1.16))
    parts = frame.axes(score.label, "resamples")
    low, high = score.interval or (bins.edges[0], bins.edges[-1])
    for left, right, height in zip(bins.edges, bins.edges[1:], bins.heights, strict=False):
        inside = low <= (left + right) / 2 <= high or left <= score.value <= right
        box = tag(
            "rect",
            x=frame.x(left) + 0.5,
            y=frame.y(height),
            width=max(frame.x(right) - frame.x(left) - 1, 0.5),
            height=frame.y(0) - frame.y(height),
            class_="bar s1" if inside else "bar faint",
        )
        parts.append(titled(box, f"{height} draws from {number(left, 4)} to {number(right, 4)}"))
    for value, class_ in ((score.value, "s1"), (score.naive, "s2 dash")):
        parts.append(path([frame.at(value, 0), (frame.x(value), frame.top + 8)], f"stroke {class_}"))
    parts.append(tag("circle", cx=frame.x(score.value), cy=frame.top + 6, r=5, class_="fill s1"))
    parts.append(diamond(frame.x(score.naive), frame.top + 6, 6, "hollow s2"))
    return picture(parts, f"Histogram of {score.n_draws} bootstrap draws of {score.label}")


def race(data: Race) -> str:
    """Draw one column a round: who stayed, who was dropped, who failed."""
    n = len(data.rounds)
    frame = Frame.fitting((0.4, n + 0.6), (0, data.n_start * 1.08), whole=True)
    parts = frame.axes("round of the cross-validation", "configurations", x_ticks=False)
    every = max(1, -(-n // 12))
    wide = min(40.0, 0.78 * (frame.x(1) - frame.x(0)))
    for r in data.rounds:
        x, floor = frame.x(r.number) - wide / 2, 0
        for size, class_ in ((r.alive, "bar s1"), (r.dropped, "hatch s2"), (r.failed, "bar faint")):
            top = frame.y(floor + size)
            if size:
                height = frame.y(floor) - top
                parts.append(tag("rect", x=x, y=top, width=wide, height=height, class_=class_))
            floor += size
        told = f"Round {r.number}: {r.alive} still in the race, {r.dropped} dropped, {r.failed} failed"
        parts.append(
            titled(tag("rect", x=x, y=frame.top, width=wide, height=frame.y(0) - frame.top, class_="hit"), told)
        )
        if (r.number - 1) % every == 0 or r.number == n:
            parts.append(text(str(r.number), frame.x(r.number), frame.y(0) + 17))
    ends = f"{data.n_start} at the start, {data.rounds[-1].alive} at the end"
    return picture(parts, f"Configurations still in the race after each round: {ends}")


def xy(chart: Chart, only: int | None = None) -> str:
    """Draw lines with their bands, and points, over two axes; `only` draws a single line."""
    frame = Frame.fitting(chart.x_range, chart.y_range)
    parts = frame.axes(chart.x_label, chart.y_label)
    name = f"clip-{chart.name}{'' if only is None else only}"
    drawn: list[str] = []
    if chart.reference is not None:
        x0, y0, x1, y1 = chart.reference
        drawn.append(path([frame.at(x0, y0), frame.at(x1, y1)], "reference"))
    drawn += [
        tag("circle", cx=frame.x(x), cy=frame.y(y), r=2, class_="dot")
        for x, y in zip(chart.points_x, chart.points_y, strict=True)
    ]
    drawn += [path(_places(frame, chart.lines[0].x, values), "one") for values in chart.faint]
    lines = [(i, line) for i, line in enumerate(chart.lines) if only is None or i == only]
    numbered = [(0 if only is not None else i, line) for i, line in lines]
    drawn += [_band(frame, line, i) for i, line in numbered]
    drawn += [part for i, line in numbered for part in _line(frame, line, i)]
    marks = [part for mark in chart.marks for part in _mark(frame, mark)]  # not cut off where it lies on an axis
    told = "; ".join(f"{line.label}: {line.text}" if line.text else line.label for _, line in lines)
    told = "; ".join([told, *(mark.text for mark in chart.marks)])
    inside = tag("g", *drawn, clip_path=f"url(#{name})")
    return picture([frame.clip(name), *parts, inside, *marks], f"{chart.title}. {told}")


def _places(frame: Frame, x: Sequence[float], y: Sequence[float]) -> list[Point]:
    return [frame.at(a, b) for a, b in zip(x, y, strict=True)]


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


def swatch(i: int) -> str:
    """Draw a short piece of a line, for a key."""
    line = path([(1, 6), (27, 6)], f"stroke {SERIES[i % 3]}")
    return tag("svg", line, viewBox="0 0 28 12", class_="swatch", aria_hidden="true")


def bars(data: Sequence[Bar]) -> str:
    """Draw horizontal bars with whiskers of one standard deviation."""
    above = any(len(bar.label) > LONGEST_BESIDE for bar in data)  # long names stand above their bars
    row, left = (38.0, 12.0) if above else (22.0, 156.0)
    height = row * len(data) + 36
    ends = [(bar.value - bar.spread, bar.value + bar.spread) for bar in data]
    high = max([end for _, end in ends] + [bar.value for bar in data] + [0.0]) or 0.01
    low = min([start for start, _ in ends] + [0.0])
    frame = Frame((low, high * 1.02), (0, 1), height=height, left=left, bottom=30)
    parts = []
    for v in ticks((low, high), 4):
        parts.append(path([(frame.x(v), frame.top), (frame.x(v), height - 30)], "grid"))
        parts.append(text(f"{v:.6g}", frame.x(v), height - 14))
    for i, (bar, (least, most)) in enumerate(zip(data, ends, strict=True)):
        middle = frame.top + row * (i + 1) - 13
        start, stop = sorted((frame.x(0), frame.x(bar.value)))
        place = (left + 2, middle - 11, "label mark-text", "start") if above else (left - 8, middle + 4, "label", "end")
        parts.append(titled(text(cut(bar.label, 50 if above else LONGEST_BESIDE), *place), bar.label))
        box = tag("rect", x=start, y=middle - 6, width=max(stop - start, 0.5), height=12, class_="bar s1")
        parts.append(titled(box, f"{bar.label}: {bar.value:.4g}, {least:.4g} to {most:.4g}"))
        parts.append(path([(frame.x(least), middle), (frame.x(most), middle)], "whisker"))
    parts.append(path([(frame.x(0), frame.top), (frame.x(0), height - 30)], "axis"))
    return picture(parts, f"Permutation importance of {len(data)} columns", height=height)


def tiny(share: float | None) -> str:
    """Draw a share as a small bar inside a cell of a table."""
    if share is None:
        return ""
    back = tag("rect", x=0, y=0, width=44, height=8, rx=2, class_="rail")
    front = tag("rect", x=0, y=0, width=44 * share, height=8, rx=2, class_="bar s1")
    return tag("svg", back, front, viewBox="0 0 44 8", class_="tiny", aria_hidden="true")


#: A cell is never darker than this, so that its numbers can be read on paper and on a dark screen.
DARKEST = 0.5
ROOM_FOR_INTERVAL = 50
SIGN = 6.2  # a sign of the small print is no wider


def confusion(data: ConfusionMatrix) -> str:
    """Draw a confusion matrix as tinted cells with their shares."""
    k = len(data.labels)
    side = min(76.0, (WIDTH - 108) / k)
    left, top = 100.0, 34.0
    height = top + side * k + 12
    parts = [text("predicted", left + side * k / 2, 12, "name")]
    middle = top + side * k / 2
    parts.append(text("true", 14, middle, "name", transform=f"rotate(-90 14 {short(middle)})"))
    numbered = any(len(label) > int(side / 6.5) for label in data.labels)  # names that would be cut tell nothing
    for i, label in enumerate(data.labels):
        head, row = (str(i + 1), f"{cut(label, 9)} {i + 1}") if numbered else (label, cut(label, 11))
        parts.append(titled(text(head, left + side * (i + 0.5), 28), label))
        parts.append(titled(text(row, left - 8, top + side * (i + 0.5) + 4, anchor="end"), label))
        parts += [_cell(data, i, j, left + side * j, top + side * i, side) for j in range(k)]
    told = ", ".join(f"{label} {percent(data.share[i][i])}" for i, label in enumerate(data.labels))
    return picture(parts, f"Confusion matrix. Predicted correctly: {told}", WIDTH, height)


def _cell(data: ConfusionMatrix, i: int, j: int, x: float, y: float, side: float) -> str:
    share, wide = data.share[i][j], side > ROOM_FOR_INTERVAL
    shown = percent(share).replace(" ", "\u202f") if wide else percent(share).removesuffix(" %")
    parts = [
        tag("rect", x=x + 1, y=y + 1, width=side - 2, height=side - 2, rx=3, class_="cell s1",
            fill_opacity=f"{DARKEST * (share or 0):.2f}"),
        text(shown if side > 20 else NOTHING, x + side / 2, y + side / 2 + (-6 if wide else 4), "big" if wide else ""),
    ]  # fmt: skip
    if wide:
        low, high = data.low[i][j], data.high[i][j]
        counted = f"{short(data.count[i][j])} of {short(sum(data.count[i]))}"
        if len(counted) * SIGN > side:
            counted = short(data.count[i][j])
        within = f"{100 * (low or 0):.0f}\u2013{100 * (high or 0):.0f}\u202f%"
        parts.append(text(counted, x + side / 2, y + side / 2 + 8, "small"))
        parts.append(text(within, x + side / 2, y + side / 2 + 22, "small"))
    told = f"true {data.labels[i]}, predicted {data.labels[j]}: {data.count[i][j]:g} samples, {percent(share)}"
    return titled("".join(parts), told)
