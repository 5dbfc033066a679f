"""A process that has imported everything and forks a run for each order, so that a run costs no import.

Reads orders as lines of JSON, answers each with a line of JSON. Orders: folder, seconds (a fit), kill (after how many
seconds, or null), signal (default: 9), limit (bytes a file may have), nobody (give up the rights of root), options
(of the search), or instead of a search a command (arguments of `sober`) and real (whether in a new interpreter).
Each run has a session of its own, and the answer says which processes of it still live two minutes after its end.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from importlib import import_module
from pathlib import Path

from sobercv.errors import SoberError

from . import runs

PATIENCE = 120.0  # seconds; on a busy machine workers take their time to end


def child(order) -> None:
    folder = Path(order["folder"])
    if order.get("limit"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["limit"], order["limit"]))
    if order.get("nobody"):
        os.setuid(65534)
    os.environ["SOBER_FIT_LOG"] = order.get("log", str(folder / "fits.log"))
    try:
        found = runs.search(folder / "run.sqlite", seconds=order.get("seconds", 0.0), **order.get("options", {}))
        answer = {"bits": runs.bits(found), "stopped": found.stopped_}
    except SoberError as error:
        answer = {"code": error.code, "message": str(error)}
    except BaseException:
        answer = {"traceback": traceback.format_exc()}
    os.write(order["pipe"], json.dumps(answer).encode())


def command(order) -> None:
    """Run a command of `sober` as the program would; what it says goes to a file."""
    os.chdir(order["folder"])
    said = os.open("said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    if order.get("real"):
        os.execv(sys.executable, [sys.executable, "-m", "sobercv.cli", *order["command"]])
    from sobercv.cli import main

    try:
        main(order["command"])
    except SystemExit as ended:
        os._exit(int(ended.code or 0))


def left_of(session: int) -> list[str]:
    """The processes of a session that still live, waiting for their end."""
    end = time.monotonic() + PATIENCE
    while True:
        found = subprocess.run(["ps", "-s", str(session), "-o", "pid=,stat=,args="], capture_output=True, text=True)
        alive = [line for line in found.stdout.splitlines() if not line.split()[1].startswith("Z")]
        if not alive or time.monotonic() > end:
            return alive
        time.sleep(0.05)


def run(order) -> dict:
    reading, order["pipe"] = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        signal.alarm(1200)  # no run hangs forever
        os.dup2(2, 1)  # orphaned workers may print; standard output is for answers only
        (command if "command" in order else child)(order)
        os._exit(0)
    os.close(order["pipe"])
    start = time.perf_counter()
    if order.get("kill") is not None:
        time.sleep(order["kill"])
        os.kill(pid, order.get("signal", signal.SIGKILL))
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    _, status = os.waitpid(pid, 0)
    told = json.loads(answer) if answer else {}
    told |= {"killed": os.WIFSIGNALED(status), "seconds": time.perf_counter() - start}
    return told | {"exit": os.waitstatus_to_exitcode(status), "left": left_of(pid)}


def serve() -> None:
    # These compile and import all that the children need: some of them may read no file of root's.
    for name in ("sobercv.cli.app", "sobercv.cli.fitting", "pyarrow.parquet", "skops.io"):
        import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        runs.search(Path(folder) / "run.sqlite")
    print(json.dumps({"bits": runs.bits(runs.search(None))}), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
