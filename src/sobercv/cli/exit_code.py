"""How a command ends: every exception becomes an exit code and one sentence with a code.

Codes are 0 done, 1 failed, 2 bad usage or data, or 128 and the number of the signal that ended it: 129 hung up, 130
interrupted, 143 terminated. Never a traceback, unless `--debug` asks for it.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
from contextlib import suppress
from typing import Any

import typer

from ..errors import SoberError

DONE, FAILED, BAD = 0, 1, 2
#: Errors that are no fault of the command or of the data as they stand: something broke on the way.
BROKEN = frozenset({"E117", "E315", "E505", "E506", "E602"})
# typer brings its own click and does not export this; its relatives are public.
_Usage = typer.BadParameter.__mro__[2]


#: A number with a decimal comma, and not one whose comma may stand between thousands.
_COMMA = re.compile(r"[+-]?(?![1-9][0-9]{0,2},[0-9]{3}$)[0-9]*,[0-9]+")

#: Words of other tools for our options, which look nothing like them.
MEANT = {
    "folds": "--cv", "k": "--cv", "n-folds": "--cv", "scoring": "--metric", "loss": "--metric", "groups": "--group",
    "random-state": "--seed", "n-jobs": "--jobs", "threads": "--jobs", "n-repeats": "--repeats", "label": "--target",
    "y": "--target", "outcome": "--target", "out": "--output", "timeout": "--max-time", "patient": "--group",
    "exclude": "--ignore", "force": "--overwrite", "status": "--event",
}  # fmt: skip


def signal_of(problem: BaseException | None) -> tuple[int, str]:
    """Return the number of the signal that an exception stands for, and a word for it."""
    number: int = getattr(problem, "number", signal.SIGINT)
    return number, "Interrupted" if number == signal.SIGINT else "Terminated"


def tell(sentence: str) -> None:
    """Write one sentence for people to standard error."""
    with suppress(UnicodeEncodeError, OSError, ValueError):  # a terminal that cannot, or a pipe that is gone
        print(f"sober: {one_line(sentence)}", file=sys.stderr, flush=True)


def one_line(text: str) -> str:
    """Return text without line ends and without signs that a terminal would obey."""
    return "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))


def _number_asked(usage: Any) -> str | None:
    """Say which option takes a number, what it got and how to write that; None where something else is wrong."""
    found = usage.__cause__.errors()[0] if hasattr(usage.__cause__, "errors") else {}
    kind = {"float_parsing": "a number", "int_parsing": "a whole number"}.get(found.get("type", ""))
    if kind is None or usage.param is None:
        return None
    given = str(found["input"])
    is_decimal = kind == "a number" and _COMMA.fullmatch(given) is not None
    hint = f" Write {given.replace(',', '.')}" if is_decimal else ""
    return f"{max(usage.param.opts, key=len)} must be {kind}; got {given[:60]!r}.{hint}".rstrip(".")


def exit_code_of(problem: BaseException, debug: bool) -> int:
    """Say in one sentence what has ended a command; `debug` shows the traceback of a failure."""
    code, sentence = FAILED, f"Failed with {type(problem).__name__}: {problem}"[:312]
    sentence += ". This should not happen; --debug shows where. [E839]"
    if isinstance(problem, typer.Exit):
        code, sentence = problem.exit_code, ""
    elif isinstance(problem, SoberError):
        code, sentence = FAILED if problem.code in BROKEN else BAD, str(problem)
    elif isinstance(problem, _Usage):
        usage: Any = problem
        code, said, context = BAD, _number_asked(usage) or usage.format_message().rstrip("."), usage.ctx
        meant = MEANT.get(str(getattr(usage, "option_name", "")).lstrip("-"))
        if context is not None and any(meant in parameter.opts for parameter in context.command.params):
            said = f"No such option: {usage.option_name}. Did you mean {meant}?"
        path = "sober" if context is None else context.command_path
        sentence = f"{said}{'' if said.endswith('?') else '.'} See {path} --help. [E808]"
    elif isinstance(problem, (KeyboardInterrupt, typer.Abort)):
        number, word = signal_of(problem)
        code, sentence = 128 + number, f"{word}."
    elif isinstance(problem, BrokenPipeError) or isinstance(problem.__context__, BrokenPipeError):
        # `| head` has seen enough; what is left in buffers goes nowhere, or Python would complain when it ends.
        code, sentence = DONE, ""
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    elif isinstance(problem, SystemExit):
        code, sentence = problem.code if isinstance(problem.code, int) else FAILED, ""
    elif isinstance(problem, MemoryError):
        sentence = "Not enough memory. Use fewer rows, --jobs 1 or a smaller preset. [E506]"
    elif isinstance(problem, OSError) and problem.strerror:
        where = f": {problem.filename}" if problem.filename else ""
        sentence = f"{problem.strerror}{where}. Everything written so far is kept. [E506]"
    if debug and code in (FAILED, BAD):
        traceback.print_exception(problem)
    if sentence:
        tell(sentence)
    return code
