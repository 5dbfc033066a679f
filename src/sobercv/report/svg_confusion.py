"""The confusion matrix of the page: tinted cells with their shares and counts.

Takes its record, gives markup; computes places on paper and nothing else.
"""

from __future__ import annotations

from .records import ConfusionMatrix
from .svg import WIDTH, cut, picture, short, tag, text, titled
from .words import NOTHING, percent

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
