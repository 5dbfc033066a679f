"""The report as plain text for terminals and logs.

Takes a `Summary`, gives lines; computes nothing but widths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from .records import ConfigurationRow, Fact, Score, Summary
from .words import apart, between, gap, number, percent, seconds, signed, status

WIDTH = 96
MOST_ROWS = 10
MOST_BARS = 10
SCALE = 60
#: Signs that some terminals cannot write.
PLAIN = str.maketrans({"\u2212": "-", "\u2013": "-", "\u00b2": "2", "\u2026": "...", "\u00a0": " ", "\u202f": " "})


def to_text(summary: Summary, *, most_rows: int = MOST_ROWS) -> str:
    """Write a summary as plain text.

    Parameters
    ----------
    summary : Summary
    most_rows : int, default=10
        How many configurations to list.
    """
    lines = [*_top(summary), *_notes(summary), *_metrics(summary), *_winner(summary), *_race(summary)]
    lines += [*_configurations(summary, most_rows), *_charts(summary), *_importance(summary), *_failures(summary)]
    lines += [*_facts("Data", summary.data), *_facts("Work", (*summary.timing, Fact("Seed", str(summary.seed))))]
    lines += [*_facts("Versions", summary.versions), *_repeat(summary)]
    return "\n".join(line.rstrip() for line in lines).translate(PLAIN) + "\n"


def _top(summary: Summary) -> Iterator[str]:
    score = summary.scores[0]
    yield from (summary.title, "=" * len(summary.title), "")
    level = f"{100 * score.level:g} % interval"
    interval = "" if score.interval is None else f"   {level} {between(score.interval, score.digits)}"
    yield f"honest score   {number(score.value, score.digits)}{interval}   ({score.label})"
    yield f"plain CV says  {number(score.naive, score.digits)}   {gap(score)}"
    yield from ("", f"  {scale(score)}", "")
    yield from wrap(summary.why, WIDTH)
    if summary.promise:
        yield from ("", *wrap(summary.promise, WIDTH))


def scale(score: Score) -> str:
    """Draw interval, honest number (o) and naive number (x) on one line."""
    known = [score.value, score.naive, *(score.interval or ())]
    low, high = min(known), max(known)
    place = (lambda v: round((v - low) / (high - low) * (SCALE - 1))) if high > low else (lambda v: SCALE // 2)
    line = [" "] * SCALE
    if score.interval is not None:
        start, stop = (place(v) for v in score.interval)
        line[start : stop + 1] = ["[", *"-" * (stop - start - 1), "]"][: stop - start + 1]
    line[place(score.naive)] = "x"
    line[place(score.value)] = "o"
    return f"{number(low, score.digits)} {''.join(line)} {number(high, score.digits)}   o honest, x plain CV"


def _notes(summary: Summary) -> Iterator[str]:
    if summary.notes:
        yield from _heading("Caveats")
    for note in summary.notes:
        first, *rest = wrap(f"{note.title}. {note.text}" if note.title else note.text, WIDTH - 8)
        yield f"  {note.code:<4}  {first}"
        yield from (f"        {line}" for line in rest)


def _metrics(summary: Summary) -> Iterator[str]:
    if len(summary.scores) > 1:
        yield from _heading("All metrics, at the same winner")
        head = ("metric", "honest", "interval", "plain CV", "off by")
        body = [
            (s.label, number(s.value, s.digits), "" if s.interval is None else between(s.interval, s.digits),
             number(s.naive, s.digits), signed(apart(s.naive, s.value, s.digits), s.digits))
            for s in summary.scores
        ]  # fmt: skip
        yield from _table(head, body, "<>>>>")


def _winner(summary: Summary) -> Iterator[str]:
    yield from _heading("Winner")
    yield from (f"  {line}" for line in wrap(summary.winner.label, WIDTH - 2))
    yield from (f"  {line}" for line in wrap(summary.winner.text, WIDTH - 2))


def _race(summary: Summary) -> Iterator[str]:
    race = summary.race
    if len(race.rounds) < 2:
        return
    yield from _heading(
        f"Race ({race.n_start} at the start, {race.n_saved} of {race.n_saved + race.n_trained} models not needed)"
    )
    body = [
        (str(r.number), str(r.alive), str(r.dropped), str(r.failed), "#" * round(40 * r.alive / race.n_start))
        for r in race.rounds
    ]
    yield from _table(("round", "alive", "dropped", "failed", ""), body, ">>>><")


def _configurations(summary: Summary, most: int) -> Iterator[str]:
    n, digits = len(summary.configurations), summary.scores[0].digits
    yield from _heading(f"Configurations ({min(most, n)} of {n})")

    def cells(row: ConfigurationRow) -> tuple[str, ...]:
        scores = (number(v, digits) for v in (row.pooled, row.mean, row.spread))
        return str(row.rank), percent(row.wins), *scores, seconds(row.seconds), status(row), row.params

    head = ("rank", "won", "pooled", "fold mean", "fold SD", "training", "status", "parameters")
    yield from _table(head, [cells(row) for row in summary.configurations[:most]], ">>>>>><<")


def _charts(summary: Summary) -> Iterator[str]:
    told = [(c.title, line.label, line.text) for c in summary.charts for line in c.lines if line.text]
    if told:
        yield from _heading("Curves of the winner")
        yield from _table(("chart", "line", ""), told, "<<<")
    for table in summary.tables:
        yield from _heading(table.title)
        yield from _table(table.rows[0], table.rows[1:], "<" + ">" * (len(table.rows[0]) - 1))
    if summary.confusion is not None:
        m = summary.confusion
        yield from _heading("Confusion (row: true, column: predicted)")
        body = [(label, *(percent(v) for v in row)) for label, row in zip(m.labels, m.share, strict=True)]
        yield from _table(("", *m.labels), body, "<" + ">" * len(m.labels))


def _importance(summary: Summary) -> Iterator[str]:
    found = summary.importance
    if found is None:
        return
    yield from _heading("Permutation importance, on the training data of the final model")
    most = max([b.value for b in found.bars] + [1e-12])
    body = [
        (
            b.label,
            f"{b.value:.4f}",
            f"+- {b.spread:.4f}" if b.low is None else f"{b.low:.4f} to {b.high:.4f}",
            "#" * max(0, round(30 * b.value / most)),
        )
        for b in (*found.bars[:MOST_BARS], *found.together)
    ]
    yield from _table(("column", "falls by", "", ""), body, "<>><")


def _failures(summary: Summary) -> Iterator[str]:
    if summary.failures:
        yield from _heading("Failures")
    for f in summary.failures[:MOST_ROWS]:
        yield from wrap(f"{f.index}  {f.params}  {f.where}: {f.error}: {f.message}", WIDTH, initial_indent="  ",
                        subsequent_indent="     ")  # fmt: skip
    if len(summary.failures) > MOST_ROWS:
        yield f"  and {len(summary.failures) - MOST_ROWS} more"


def _facts(title: str, facts: Sequence[Fact]) -> Iterator[str]:
    yield from _heading(title)
    width = max(len(f.label) for f in facts)
    for fact in facts:
        first, *rest = wrap(fact.text, WIDTH - width - 4) or [""]
        yield f"  {fact.label:<{width}}  {first}"
        yield from (" " * (width + 4) + line for line in rest)


def _repeat(summary: Summary) -> Iterator[str]:
    yield from _heading("Method")
    yield from (f"  {line}" for line in wrap(summary.method, WIDTH - 2))
    yield from (f"  {line}" for line in wrap(summary.citation, WIDTH - 2))
    yield from _heading("To repeat it")
    yield f"  {summary.command}"


def _heading(words: str) -> Iterator[str]:
    yield from ("", words, "-" * len(words))


def _table(head: Sequence[str], body: Sequence[Sequence[str]], sides: str) -> Iterator[str]:
    rows = [tuple(_cut(cell) for cell in row) for row in (head, *body)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        yield "  " + "  ".join(f"{cell:{side}{w}}" for cell, side, w in zip(row, sides, widths, strict=True))


def _cut(words: str, longest: int = 60) -> str:
    return words if len(words) <= longest else words[: longest - 3] + "..."
