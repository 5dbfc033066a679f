"""A process that has imported everything and forks a run for each order, so that a run costs no import.

Reads orders as lines of JSON, answers each with a line of JSON. Orders: folder, seconds (a fit), kill (after how many
seconds, or null), limit (bytes a file may have), nobody (give up the rights of root), options (of the search).
"""

import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from sobercv.errors import SoberError

from . import runs


def child(order) -> None:
    folder = Path(order["folder"])
    if order.get("limit"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["limit"], order["limit"]))
    if order.get("nobody"):
        os.setuid(65534)
    os.environ["SOBER_FIT_LOG"] = order.get("log", str(folder / "fits.log"))
    try:
        found = runs.search(folder / "run.sqlite", seconds=order.get("seconds", 0.0), **order.get("options", {}))
        answer = {"bits": runs.bits(found)}
    except SoberError as error:
        answer = {"code": error.code, "message": str(error)}
    except BaseException:
        answer = {"traceback": traceback.format_exc()}
    os.write(order["pipe"], json.dumps(answer).encode())


def serve() -> None:
    # These compile and import all that the children need: some of them may read no file of root's.
    with tempfile.TemporaryDirectory() as folder:
        runs.search(Path(folder) / "run.sqlite")
    print(json.dumps({"bits": runs.bits(runs.search(None))}), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        reading, order["pipe"] = os.pipe()
        pid = os.fork()
        if pid == 0:
            signal.alarm(120)  # whatever happens, nobody waits for ever
            os.dup2(2, 1)  # orphaned workers may print; standard output is for answers only
            child(order)
            os._exit(0)
        os.close(order["pipe"])
        start = time.perf_counter()
        if order.get("kill") is not None:
            time.sleep(order["kill"])
            os.kill(pid, signal.SIGKILL)
        with os.fdopen(reading) as pipe:
            answer = pipe.read()
        _, status = os.waitpid(pid, 0)
        told = json.loads(answer) if answer else {}
        told |= {"killed": os.WIFSIGNALED(status), "seconds": time.perf_counter() - start}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    serve()
