"""Draws the problem in one picture, from the numbers of demo.py: python examples/draw_problem.py problem.svg"""

import sys
from pathlib import Path

from demo import ROWS, searched

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 620, 360, 50, 80, 55
LOW, HIGH = 0.75, 1.0
SERIES = (("plain cross-validation claims", "#b4481e"), ("sober says", "#1f5a93"), ("true score", "#2e7d4f"))


def picture(rows):
    """Give the SVG of rows (samples, claimed, honest, true)."""

    def y(score):
        return TOP + (HIGH - score) / (HIGH - LOW) * (HEIGHT - TOP - BOTTOM)

    def x(i, shift=0.0):
        return LEFT + 80 + (WIDTH - LEFT - 160) * i / (len(rows) - 1) + shift

    lines = []
    for tick in (0.75, 0.8, 0.85, 0.9, 0.95, 1.0):
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - 10}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#e3e6ea"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.2f}</text>')
    for i, (n, *scores) in enumerate(rows):
        lines.append(f'<text x="{x(i):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{n}</text>')
        claimed, _, true = scores
        lines.append(
            f'<line x1="{x(i):.1f}" x2="{x(i):.1f}" y1="{y(claimed):.1f}" y2="{y(true):.1f}" '
            'stroke="#b4481e" stroke-dasharray="3 3"/>'
        )
        for (_, colour), score, (side, lift) in zip(SERIES, scores, ((8, 3), (-8, -4), (8, -6)), strict=True):
            anchor = "start" if side > 0 else "end"
            lines.append(f'<circle cx="{x(i):.1f}" cy="{y(score):.1f}" r="6" fill="{colour}"/>')
            lines.append(
                f'<text x="{x(i, 1.4 * side):.1f}" y="{y(score) + 5 - lift:.1f}" text-anchor="{anchor}" '
                f'fill="{colour}">{score:.3f}</text>'
            )
    for (label, colour), (right, down) in zip(SERIES, ((0, 0), (0, 25), (140, 25)), strict=True):
        at = f'cx="{LEFT + right + 6}" cy="{20 + down}"'
        lines.append(f'<circle {at} r="6" fill="{colour}"/>')
        lines.append(f'<text x="{LEFT + right + 18}" y="{25 + down}">{label}</text>')
    middle = (LEFT + WIDTH) / 2
    below = "samples (accuracy of the best of 500 configurations)"
    lines.append(f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{below}</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="16" fill="#22272c">'
        '<rect width="100%" height="100%" fill="#fff"/>'
    )
    return "\n".join([head, *lines, "</svg>\n"])


if __name__ == "__main__":
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "problem.svg")
    path.write_text(picture([(n, *searched(n, c)[:3]) for n, c in ROWS]), encoding="utf-8")
    print(path)
