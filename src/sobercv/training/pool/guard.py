"""A small process that outlives the one that started it by a moment: it ends its workers and removes their files.

Run as a script with the folder of a pool, in which files `<number>.worker` name process groups. Standard input is
closed when the parent ends, whatever ends it; where a copy of the pipe lives on in another child of the parent, the
parent's process id tells.
"""

import os
import select
import shutil
import signal
import sys
from contextlib import suppress


def end_groups(folder: str) -> None:
    """Kill all process groups that a folder names: workers, and the programs that their fits started."""
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        number, _, kind = name.partition(".")
        if kind == "worker" and number.isdigit():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(int(number), signal.SIGKILL)


def main(folder: str) -> None:
    """Wait for the end of the parent."""
    parent = os.getppid()
    while os.getppid() == parent:
        if select.select([0], [], [], 1.0)[0] and not os.read(0, 1):
            break
    gone = f"{folder}-gone"
    with suppress(OSError):
        os.rename(folder, gone)  # a worker that starts now finds no folder, and ends
        end_groups(gone)
    shutil.rmtree(gone, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
