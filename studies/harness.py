"""What every study shares: its design in pieces, one runner that resumes, the files of its results, and its pages.

A study is a module with `PARTS` (what is measured) and `PAGES` (what the docs show of it). A part names its pieces, and
says what one piece holds; a piece is one file of a work folder, complete or absent, so that a run that was stopped
continues, and several processes may share a folder. Results are CSV files in `studies/results`, each with a JSON file
that holds what it was made with.

A page leads with its answer and one figure. It is made of templates in `studies/pages`: NAME.md holds its words, and
each of its tables is a CSV file with a line of heads and one of cells. A study supplies the numbers for their fields,
and the figure. A line of a table whose fields are columns of a data frame is repeated for each of its rows. Pages are
made from committed results by `python -m studies NAME --page`, and a test compares them.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
import scipy
import sklearn

import sobercv
from sobercv.runs.folder import write_file

RESULTS = Path(__file__).parent / "results"
FOLDER = Path(__file__).parent.parent / "docs" / "evidence"
TEMPLATES = Path(__file__).parent / "pages"
VERSIONS = ("seed", "sober", "numpy", "scipy", "scikit-learn", "python")
VERDICTS = {True: "yes", False: "NO", None: "cannot tell"}
#: What pages call the metrics, in the order of their tables.
TITLES = {
    "roc_auc": "AUC", "accuracy": "accuracy", "roc_auc_ovr": "AUC, many classes", "r2": "R2",
    "neg_mean_squared_error": "squared error", "concordance_index": "C-index",
}  # fmt: skip
Numbers = Mapping[str, Any]
Array, Rng = np.ndarray, np.random.Generator
Row = dict[str, Any]
Key = tuple[Any, ...]
Rows = pd.DataFrame


class Absent(Exception):
    """A data set is not in the folders."""


@dataclass(frozen=True)
class Options:
    """What a user says: folders of NAME.npz files, where pieces are kept, processes, and how many pieces."""

    data: Sequence[Path] = ()
    work: Path = Path("study-work")
    jobs: int = 1
    first: int | None = None
    output: Path = RESULTS

    def find(self, *names: str) -> Path:
        """The file of a data set that has one of these names."""
        for file in (folder / f"{name}.npz" for folder in self.data for name in names):
            if file.exists():
                return file
        raise Absent(names[0])

    def kept(self, name: str, make: Callable[[], Mapping[str, Array]]) -> dict[str, Array]:
        """Arrays of the work folder; made first where they are missing."""
        path = self.work / "tables" / f"{name}.npz"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, partial(np.savez_compressed, **make()))
        with np.load(path, allow_pickle=False) as file:
            return dict(file)


@dataclass(frozen=True)
class Part:
    """What is measured and kept together."""

    keys: str  # names of what a piece is found by, which become columns of its rows
    design: Callable[[], Iterable[Key]]  # the keys of all pieces, those first that an early look should see
    measure: Callable[..., list[Row]]  # ``measure(options, *key)``: rows in terms of JSON
    results: Callable[[Rows], Rows | dict[str, Rows]] = lambda rows: rows  # of the results file; or of several by name
    digits: str = "%.6g"  # format of numbers that are not whole
    about: Mapping[str, Any] = field(default_factory=dict)  # what the results depend on, beside versions
    samples: int = 0  # where a place is measured so often, the last key is the number of the sample
    at_once: int = 1  # samples of a piece

    def pieces(self) -> list[list[Key]]:
        """What is measured together; the samples of all places come round by round."""
        if not self.samples:
            return [[key] for key in self.design()]
        rounds = [range(first, first + self.at_once) for first in range(0, self.samples, self.at_once)]
        return [[(*key, sample) for sample in some] for some in rounds for key in self.design()]

    def made(self, options: Options, piece: Iterable[Key]) -> list[Row]:
        """The rows of a piece, with their keys."""
        named = [(key, dict(zip(self.keys.split(), key, strict=True))) for key in piece]
        return [names | row for key, names in named for row in self.measure(options, *key)]


def run(study: str, name: str, part: Part, options: Options) -> dict[str, Rows]:
    """Make the pieces that are missing, and write the results of all; the rows by the name of their file.

    Results depend neither on the number of processes nor on interruptions.
    """
    pieces, folder = part.pieces()[: options.first], options.work / study / name
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / file_name(piece[0]) for piece in pieces]
    missing = [(path, piece) for path, piece in zip(paths, pieces, strict=True) if not path.exists()]
    print(f"{study}, {name}: {len(pieces)} pieces; {len(missing)} are missing")
    calls = (joblib.delayed(_make)(path, part, options, piece) for path, piece in missing)
    absent = {lacking for lacking in joblib.Parallel(options.jobs, batch_size=1, verbose=1)(calls) if lacking}
    if absent:
        print(f"left out, as they are not in the folders of --data: {', '.join(sorted(absent))}")
    rows = [row for path in paths if path.exists() for row in json.loads(path.read_text())]
    if not rows:
        return {}
    found = part.results(pd.DataFrame(rows))
    files = found if isinstance(found, dict) else {name: found}
    output = options.work if absent else options.output  # an incomplete design must not replace committed results
    for file, some in files.items():
        path = output / f"{results_name(study, file)}.csv"
        write_results(some, path, part, len(pieces))
        print(f"{len(some)} rows in {path}")
    return files


def _make(path: Path, part: Part, options: Options, piece: Iterable[Key]) -> str | None:
    """Make one piece, unless another process has made it meanwhile; return the data set that it lacks."""
    if not path.exists():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # few samples are the point of most studies
                rows = part.made(options, piece)
        except Absent as error:
            return str(error)
        write_file(path, json.dumps(rows, default=lambda value: value.tolist()))  # numpy's numbers and arrays
    return None


# ---- summaries of rows ----
def claim(found: Any, truth: float) -> Row:
    """What an estimate or a difference claims, and the truth of it."""
    low, high = found.interval
    return {"naive": found.naive, "value": found.value, "low": low, "high": high, "truth": truth}


def grouped(rows: Rows, by: str, summarise: Callable[[Rows], Row | list[Row]], *, sort: bool = True) -> Rows:
    """One row, or several, for each value of some columns."""
    names, made = by.split(), []
    for key, some in rows.groupby(names, sort=sort):
        told, place = summarise(some), dict(zip(names, key, strict=True))
        made += [place | row | place for row in ([told] if isinstance(told, dict) else told)]
    return pd.DataFrame(made)


def by_values(rows: Rows, summarise: Callable[[Rows], Row], **titles: str) -> Rows:
    """One row for each value of some columns, one column after another: its title ("by"), and the value ("which")."""
    each = (grouped(rows, name, summarise).rename(columns={name: "which"}).assign(by=by) for name, by in titles.items())
    return pd.concat(each)


def left_out(table: Rows, choose: Callable[[pd.Series], Any]) -> Rows:
    """For each row (a data set) the column that the means of the other rows choose, and the row's value in it."""
    chosen = {name: choose(table.drop(name).mean()) for name in table.index}
    return pd.DataFrame({"chosen": chosen, "value": {name: table.loc[name, which] for name, which in chosen.items()}})


def bias(name: str, errors: pd.Series) -> Row:
    """Mean, standard error and root mean square of the errors of an estimate."""
    off = errors.to_numpy()
    mean, error = Mean.of(off)
    return {f"bias {name}": mean, f"se {name}": error, f"rmse {name}": np.sqrt((off**2).mean())}


def covers(rows: Rows, low: str = "low", high: str = "high", truth: str = "truth") -> float:
    """Share of intervals that hold the truth."""
    return float(rows[truth].between(rows[low], rows[high]).mean())


# ---- files ----
def results_name(study: str, part: str) -> str:
    """The main part of a study has its name."""
    return study if part == "main" else f"{study}-{part}"


def file_name(key: Key) -> str:
    """Short, and no two keys have the same."""
    return re.sub(r"[^\w.=+-]+", "_", "-".join(map(str, key))) + ".json"


def write_results(rows: Rows, path: Path, part: Part, pieces: int) -> None:
    """Write results as CSV, and beside them what they were made with."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.to_csv(path, index=False, float_format=part.digits)
    modules = {"sober": sobercv, "numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    versions = {name: module.__version__ for name, module in modules.items()} | {"python": sys.version.split()[0]}
    path.with_suffix(".json").write_text(json.dumps({**part.about, "pieces": pieces, **versions}, indent=1) + "\n")


def read_results(name: str, folder: Path = RESULTS) -> Rows:
    """Read results back; `name` is that of a study, or of a study and a part."""
    return pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=["", "nan"])


# ---- pages ----
@dataclass(frozen=True)
class Page:
    """One page, its figure and its tables."""

    name: str
    made_with: str  # the results whose versions it quotes
    draw: Callable[[Any, Numbers], Any]  # takes matplotlib's pyplot and the numbers, returns the figure
    numbers: Numbers  # the fields of its templates

    def files(self) -> dict[str, str]:
        """The page and its tables by the names of their files."""
        about = json.loads((RESULTS / f"{self.made_with}.json").read_text())
        words = (TEMPLATES / f"{self.name}.md").read_text(encoding="utf-8")
        versions = ", ".join(f"{name} {about[name]}" for name in VERSIONS if name in about)
        numbers, made = {"versions": versions, "about": about, **self.numbers}, {}
        for name in re.findall(r"^- \[(.+?)\]", words, re.MULTILINE):
            if (TEMPLATES / name).exists():
                lines = csv.reader((TEMPLATES / name).read_text(encoding="utf-8").splitlines())
                found, text = [line for cells in lines for line in repeated(cells, numbers)], io.StringIO()
                csv.writer(text, lineterminator="\n").writerows(found)
                made[name] = text.getvalue()
                if "agrees" in found[0]:
                    numbers["agreement"] = agreement([line[found[0].index("agrees")] for line in found[1:]])
        return {f"{self.name}.md": page(words, numbers), **made}

    def write(self, folder: Path = FOLDER) -> None:
        """Write the page, its tables and its figure: the same numbers give the same files."""
        import matplotlib

        matplotlib.use("agg")  # without a screen
        import matplotlib.pyplot as plt

        folder.mkdir(exist_ok=True)
        for name, content in self.files().items():
            (folder / name).write_text(content, encoding="utf-8")
        style = {
            "svg.hashsalt": "sober", "svg.fonttype": "none",  # text stays text: small files that can be searched
            "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
            "axes.spines.top": False, "axes.spines.right": False,
        }  # fmt: skip
        with plt.rc_context(style):
            figure = self.draw(plt, self.numbers)
            figure.tight_layout()
            figure.savefig(folder / f"{self.name}.svg", metadata={"Date": None})
            plt.close(figure)


def panels(plt: Any, titles: Mapping[str, str], lines: Callable[[str], Mapping[str, Any]], sizes: Sequence[int]) -> Any:
    """Draw the paper's figures: bias against samples, one panel per protocol with its lines, series by colour."""
    fig, axes = plt.subplots(2, 4, figsize=(13, 6), sharex=True, sharey=True)
    for ax, (protocol, title) in zip(axes.flat, titles.items(), strict=False):
        for label, (colour, line) in lines(protocol).items():
            places = [sizes.index(n) for n in line.index]
            ax.plot(places, list(line), color=colour, marker="o", ms=3, lw=1.2, label=label)
        ax.axhline(0, color="0.4", lw=0.8)
        ax.set_title(title, loc="left", fontsize=11)
        ax.set_xticks(range(len(sizes)), sizes)
    for ax in axes[1]:
        ax.set_xlabel("samples")
    return fig, axes


# ---- words with numbers ----
class _Fields(Formatter):
    """Python's format, where methods are called, NaN is nothing, and a "share" has no zero.

    Verdicts are "near 0.17 0.015" (differs by no more than that), "below 0" and "above 0"; a verdict is a word.
    """

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        found, _ = super().get_field(field_name, args, kwargs)
        return (found() if callable(found) else found), None

    def format_field(self, value: Any, format_spec: str) -> str:
        verb, *limits = format_spec.split() or ("",)
        if verb in ("near", "below", "above"):
            number = value if isinstance(value, Mean) else Mean(float(value), 0.0)
            value = getattr(number, verb)(*map(float, limits))
        if value is None or isinstance(value, (bool, np.bool_)):
            return VERDICTS[value]
        if value != value:
            return ""
        if format_spec == "share":
            return "1" if value >= 0.9995 else f"{value:.3f}".lstrip("0")
        return format(value, format_spec)


def fill(template: str, numbers: Numbers) -> str:
    """Put numbers into the fields of a template."""
    return _Fields().vformat(template, (), numbers)


def repeated(cells: Sequence[str], numbers: Numbers) -> list[list[str]]:
    """A line of a table, or one for each row of the data frame that it asks for."""
    asked = re.findall(r"\{(\w+)\[", "".join(cells))
    name = next((name for name in asked if isinstance(numbers.get(name), pd.DataFrame)), None)
    rows = [numbers] if name is None else ({**numbers, name: row} for row in numbers[name].to_dict("records"))
    return [[fill(cell, row) for cell in cells] for row in rows]


def page(words: str, numbers: Numbers) -> str:
    """Fill a page; paragraphs and list items become lines, headings, figures, tables and code stay as they are."""
    blocks = []
    for block in words.strip().split("\n\n"):
        heading, _, rest = block.partition("\n") if block.startswith("#") else ("", "", block)
        if rest.startswith("|"):
            lines = (line.strip("| ").split(" | ") for line in rest.splitlines())
            rest = "\n".join(f"| {' | '.join(line)} |" for cells in lines for line in repeated(cells, numbers))
        else:
            heading, rest = fill(heading, numbers), fill(rest, numbers)
            if not rest.startswith(("```", "![")):
                rest = "\n".join(map(_wrapped, re.split(r"\n(?=- |\d+\. )", rest)))
        blocks.append("\n".join(part for part in (heading, rest) if part))
    return "\n\n".join(blocks) + "\n"


def _wrapped(text: str) -> str:
    mark = re.match(r"- |\d+\. |", text)
    indent = " " * len(mark.group()) if mark else ""
    plain = " ".join(text.split()).replace(" - ", "\0- ")  # a line that starts with a minus would be a list item
    filled = textwrap.fill(plain, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return filled.replace("\0", " ")


# ---- statements of the paper ----
def agreement(verdicts: Sequence[str]) -> str:
    """How many statements agree, in one phrase."""
    agree, unclear = verdicts.count(VERDICTS[True]), verdicts.count(VERDICTS[None])
    return f"{agree} of {len(verdicts)} agree" + (f", {unclear} cannot be told" if unclear else "")


class Mean(NamedTuple):
    """A number and its standard error; written with two of them."""

    value: float
    error: float

    @classmethod
    def of(cls, values: Any) -> Mean:
        """Of some numbers; the error of a single one is not known."""
        error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        return cls(float(np.mean(values)), float(error))

    def __neg__(self) -> Mean:
        return Mean(-self.value, self.error)

    def __format__(self, spec: str) -> str:
        error = "" if np.isnan(self.error) else f" ± {2 * self.error:{spec.lstrip('+')}}"
        return f"{self.value:{spec}}{error}"

    def below(self, limit: float = 0.0) -> bool | None:
        """Whether the number is; None where it is not, but lies within two errors of the limit."""
        return True if self.value <= limit else None if self.value - limit <= 2 * self.error else False

    def above(self, limit: float = 0.0) -> bool | None:
        """The same on the other side."""
        return (-self).below(-limit)

    def near(self, other: float, most: float) -> bool | None:
        """Whether it differs by no more than that."""
        return Mean(abs(self.value - other), self.error).below(most)


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """Whether all agree; None where none disagrees but some are undecided."""
    told = list(answers)
    return False if False in told else None if None in told else True
