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
_Usage: Any = typer.BadParameter.__mro__[2]
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


def silence(stream: Any) -> None:
    """Let what is left for a closed pipe go nowhere, or Python would complain when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _usage(problem: Any) -> str:
    """Say what is wrong with the words of a command: no number, another tool's option, or what typer saw."""
    said, path = problem.format_message().rstrip("."), "sober"
    found = problem.__cause__.errors()[0] if hasattr(problem.__cause__, "errors") else {}
    kind = {"float_parsing": "a number", "int_parsing": "a whole number"}.get(found.get("type", ""))
    if kind is not None and problem.param is not None:
        given = str(found["input"])
        said = f"{max(problem.param.opts, key=len)} must be {kind}; got {given[:60]!r}"
        said += f". Write {given.replace(',', '.')}" * (kind == "a number" and _COMMA.fullmatch(given) is not None)
    if problem.ctx is not None:
        path, meant = problem.ctx.command_path, MEANT.get(str(getattr(problem, "option_name", "")).lstrip("-"))
        if any(meant in parameter.opts for parameter in problem.ctx.command.params):
            said = f"No such option: {problem.option_name}. Did you mean {meant}?"
    return f"{said}{'' if said.endswith('?') else '.'} See {path} --help. [E808]"


def exit_code_of(problem: BaseException, debug: bool) -> int:
    """Say in one sentence what has ended a command; `debug` shows the traceback of a failure."""
    code, sentence = FAILED, ""
    match problem:
        case SoberError():
            code, sentence = FAILED if problem.code in BROKEN else BAD, str(problem)
        case _Usage():
            code, sentence = BAD, _usage(problem)
        case KeyboardInterrupt() | typer.Abort():
            number, word = signal_of(problem)
            code, sentence = 128 + number, f"{word}."
        case BrokenPipeError() | BaseException(__context__=BrokenPipeError()):  # `| head` has seen enough
            code = DONE
            silence(sys.stdout)
        case typer.Exit(exit_code=int(code)) | SystemExit(code=int(code)):
            pass
        case MemoryError():
            sentence = "Not enough memory. Use fewer rows, --jobs 1 or a smaller preset. [E506]"
        case OSError(strerror=str(reason)):
            where = f": {problem.filename}" if problem.filename else ""
            sentence = f"{reason}{where}. Everything written so far is kept. [E506]"
        case _:
            said = f"Failed with {type(problem).__name__}: {problem}"[:312]
            sentence = f"{said}. This should not happen; --debug shows where. [E839]"
    if debug and code in (FAILED, BAD):
        traceback.print_exception(problem)
    if sentence:
        tell(sentence)
    return code
