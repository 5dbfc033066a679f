"""How a command ends: every exception becomes an exit code and one sentence.

Takes what was raised, gives 0 done, 1 failed, 2 bad usage or data, 130 interrupted but saved; never a traceback, unless
`--debug` asks for it.
"""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from types import TracebackType

import typer

DONE, FAILED, BAD, INTERRUPTED = 0, 1, 2, 130
#: Errors that are no fault of the command or of the data as they stand: something broke on the way.
BROKEN = frozenset({"E117", "E314", "E315", "E505", "E506", "E602", "E603"})
# typer brings its own click and does not export this; its relatives are public.
_Usage = typer.BadParameter.__mro__[2]


class ending:
    """Catches whatever a command raises.

    Parameters
    ----------
    debug : bool
        Show the traceback of a failure.
    """

    def __init__(self, debug: bool = False) -> None:
        self.debug = debug
        self.code = DONE

    def __enter__(self) -> ending:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if problem is None:
            return True
        self.code, sentence = _read(problem)
        if self.debug and self.code in (FAILED, BAD):
            traceback.print_exception(problem)
        if sentence:
            tell(sentence)
        return True


def tell(sentence: str) -> None:
    """Write one sentence for people to standard error."""
    with suppress(UnicodeEncodeError, OSError, ValueError):  # a terminal that cannot, or a pipe that is gone
        print(f"sober: {one_line(sentence)}", file=sys.stderr)


def one_line(text: str) -> str:
    """Give text without line ends and without signs that a terminal would obey."""
    return "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))


def _read(problem: BaseException) -> tuple[int, str]:
    from ..errors import SoberError

    if isinstance(problem, typer.Exit):
        return problem.exit_code, ""
    if isinstance(problem, SoberError):
        return FAILED if problem.code in BROKEN else BAD, str(problem)
    if isinstance(problem, _Usage):
        return BAD, f"{problem.format_message().rstrip('.')}. See sober --help. [E808]"  # type: ignore[attr-defined]
    if isinstance(problem, (KeyboardInterrupt, typer.Abort)):
        return INTERRUPTED, "Interrupted."
    if isinstance(problem, BrokenPipeError):  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE, ""
    if isinstance(problem, SystemExit):
        return int(problem.code or 0), ""
    if isinstance(problem, MemoryError):
        return FAILED, "The memory is not enough. Use fewer rows, --jobs 1, or a smaller preset."
    if isinstance(problem, OSError) and problem.strerror:
        return FAILED, f"{problem.strerror}: {problem.filename or 'a file'}."
    said = f"{type(problem).__name__}: {problem}"
    return FAILED, f"Failed with {said[:300]}. This should not happen; --debug shows where."
