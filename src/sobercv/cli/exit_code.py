"""How a command ends: every exception becomes an exit code and one sentence with a code.

Codes are 0 done, 1 failed, 2 bad usage or data, or 128 and the number of the signal that ended it: 129 hung up, 130
interrupted, 143 terminated. Never a traceback, unless `--debug` asks for it.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import Any

import typer

DONE, FAILED, BAD = 0, 1, 2
#: Errors that are no fault of the command or of the data as they stand: something broke on the way.
BROKEN = frozenset({"E117", "E315", "E505", "E506", "E602"})
# typer brings its own click and does not export this; its relatives are public.
_Usage = typer.BadParameter.__mro__[2]


def exit_code_of(problem: BaseException, debug: bool) -> int:
    """Say in one sentence what has ended a command; `debug` shows the traceback of a failure."""
    code, sentence = _read(problem)
    if debug and code in (FAILED, BAD):
        traceback.print_exception(problem)
    if sentence:
        tell(sentence)
    return code


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


def _read(problem: BaseException) -> tuple[int, str]:
    from ..errors import SoberError

    if isinstance(problem, typer.Exit):
        return problem.exit_code, ""
    if isinstance(problem, SoberError):
        return FAILED if problem.code in BROKEN else BAD, str(problem)
    if isinstance(problem, _Usage):
        return BAD, _usage(problem)
    if isinstance(problem, (KeyboardInterrupt, typer.Abort)):
        number, word = signal_of(problem)
        return 128 + number, f"{word}."
    if isinstance(problem, BrokenPipeError) or isinstance(problem.__context__, BrokenPipeError):
        # `| head` has seen enough; what is left in buffers goes nowhere, or Python would complain when it ends.
        with suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE, ""
    if isinstance(problem, SystemExit):
        return problem.code if isinstance(problem.code, int) else FAILED, ""
    if isinstance(problem, MemoryError):
        return FAILED, "The memory is not enough. Use fewer rows, --jobs 1, or a smaller preset. [E506]"
    if isinstance(problem, OSError) and problem.strerror:
        where = f": {problem.filename}" if problem.filename else ""
        return FAILED, f"{problem.strerror}{where}. The system refused; what was written before is kept. [E506]"
    said = f"{type(problem).__name__}: {problem}"[:300]
    return FAILED, f"Failed with {said}. This should not happen; --debug shows where. [E839]"


#: Words of other tools for our options, which look nothing like them.
MEANT = {
    "folds": "--cv", "k": "--cv", "n-folds": "--cv", "scoring": "--metric", "loss": "--metric", "groups": "--group",
    "random-state": "--seed", "n-jobs": "--jobs", "threads": "--jobs", "n-repeats": "--repeats", "label": "--target",
    "y": "--target", "outcome": "--target", "out": "--output", "timeout": "--max-time", "patient": "--group",
    "exclude": "--ignore", "force": "--overwrite", "status": "--event",
}  # fmt: skip


def _usage(problem: Any) -> str:
    """Say what was wrong with the words of a command, and whose help tells the right ones."""
    said = problem.format_message().rstrip(".")
    meant = MEANT.get(str(getattr(problem, "option_name", "")).lstrip("-"))
    if problem.ctx is not None and any(meant in parameter.opts for parameter in problem.ctx.command.params):
        said = f"No such option: {problem.option_name}. Did you mean {meant}?"
    path = problem.ctx.command_path if problem.ctx is not None else "sober"
    return f"{said}{'' if said.endswith('?') else '.'} See {path} --help. [E808]"
