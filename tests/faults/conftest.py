"""One zygote for all tests of a module."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


class Zygote:
    def __init__(self):
        root = Path(__file__).parent.parent.parent
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
        )
        self.truth = self._answer()["bits"]

    def run(self, folder, **order):
        self.process.stdin.write(json.dumps({"folder": str(folder), **order}) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self):
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="module")
def zygote():
    made = Zygote()
    yield made
    made.process.stdin.close()
    made.process.wait(30)
