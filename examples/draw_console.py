"""Draws what a command printed as an SVG that loads nothing: sober fit ... | python draw_console.py console.svg

The input may hold colours (FORCE_COLOR=1); `--command` is the line that is shown above it.
"""

import argparse
import re
import sys
from html import escape
from pathlib import Path

STYLES = {"1": "font-weight:700", "2": "opacity:.65", "32": "fill:#7ee2a8", "33": "fill:#f0c674", "31": "fill:#ff8f80"}
LINE, LETTER, MARGIN = 20, 8.2, 18


def spans(line):
    """Turn escape sequences of a terminal into spans."""
    parts, style, out = re.split(r"\x1b\[([\d;]*)m", line.rstrip()), "", ""
    for i, part in enumerate(parts):
        if i % 2:
            style = ";".join(STYLES[code] for code in part.split(";") if code in STYLES)
        elif part:
            out += f'<tspan style="{style}">{escape(part)}</tspan>' if style else escape(part)
    return out


def picture(lines):
    """Give the SVG of lines."""
    width = MARGIN * 2 + LETTER * max(len(re.sub(r"\x1b\[[\d;]*m", "", line).rstrip()) for line in lines)
    height = MARGIN * 2 + LINE * len(lines)
    rows = "\n".join(
        f'<text x="{MARGIN}" y="{MARGIN + LINE * (i + 0.75):.0f}" xml:space="preserve">{spans(line)}</text>'
        for i, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}" '
        'font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="13.5" fill="#e6e9ec">'
        f'<rect width="100%" height="100%" rx="8" fill="#1b2024"/>\n{rows}\n</svg>\n'
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--command")
    options = parser.parse_args()
    printed = sys.stdin.read().strip("\n").splitlines()
    shown = [f"\x1b[32m$\x1b[0m {options.command}", "", *printed] if options.command else printed
    options.path.write_text(picture(shown), encoding="utf-8")
