"""Copied code: complete, in an order in which it runs, and the same in every process."""

import os
import subprocess
import sys

from sobercv.presets.elastic import ElasticNetCox
from sobercv.runs.vendored import Vendored

COPY = (
    "from sobercv.presets.elastic import ElasticNetCox; from sobercv.runs.vendored import Vendored\n"
    "copied = Vendored(); copied.add(ElasticNetCox); print(copied.text, *copied.imports, sep='\\n')"
)


def test_the_copy_runs_alone():
    copied = Vendored()
    copied.add(ElasticNetCox)
    room = {"__name__": "copy"}
    exec("from __future__ import annotations\n" + "\n".join(copied.imports) + "\n" + copied.text, room)
    assert room["ElasticNetCox"] is not ElasticNetCox
    assert "sobercv" not in copied.text


def test_the_copy_is_the_same_whatever_the_hash_seed():
    texts = {
        subprocess.run(
            [sys.executable, "-c", COPY], env={**os.environ, "PYTHONHASHSEED": str(seed)}, capture_output=True,
            text=True, check=True,
        ).stdout
        for seed in range(8 if os.environ.get("SOBER_SOAK") else 2)
    }  # fmt: skip
    assert len(texts) == 1


def test_what_two_need_is_copied_once():
    copied = Vendored()
    copied.add(ElasticNetCox)
    once = copied.text
    copied.add(ElasticNetCox)
    assert copied.text == once
