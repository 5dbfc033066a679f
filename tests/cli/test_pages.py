"""Every command that a page shows works as printed: `$` lines of console blocks are run, one page in one folder that
is empty at first."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [p for p in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if "```console" in p.read_text()]


def commands(page):
    """Give the commands of a page; lines up to the end of a here-document belong to their command."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), flags=re.M | re.S):
        end = None
        for line in block.splitlines():
            if end is not None:
                found[-1] += f"\n{line}"
                end = None if line == end else end
            elif line.startswith("$ "):
                found.append(line[2:])
                here = re.search(r"<<'(\w+)'", line)
                end = here[1] if here else None
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_every_command_of_a_page_works_as_printed(page, tmp_path, sober):
    tools = tmp_path / ".tools"
    tools.mkdir()
    for name, what in (("sober", "-m sobercv.cli"), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {what} "$@"\n')
        (tools / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "XDG_STATE_HOME": str(tmp_path / ".state")}
    for command in commands(page):
        if command.startswith("make "):
            continue  # they set up an environment; `make demo` and `make test` are how this test came to run
        command = command.replace("--max-time 60s", "--max-time 60m")  # a busy machine needs more than a minute
        if re.fullmatch(r"sober [^|<>&;$`]*", command):  # needs no shell, and no process of its own
            ended = sober(*shlex.split(command)[1:])
            assert ended.code == 0, f"{command}\n{ended.out}{ended.err}"
            if command == "sober example breast_cancer":  # the commands work on fewer rows as well, in less time
                table = pd.read_csv(tmp_path / "breast_cancer.csv")
                table.sample(120, random_state=0).to_csv(tmp_path / "breast_cancer.csv", index=False)
            continue
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr


def test_the_pages_name_every_command_and_every_file():
    from sobercv.cli.app import app
    from sobercv.runs.folder import FILES

    text = (ROOT / "docs" / "cli.md").read_text()
    for command in app.registered_commands:
        name = command.name or command.callback.__name__
        assert f"sober {name}" in text, name
    for name in FILES:
        assert name.startswith("data.") or f"`{name}`" in text, name
