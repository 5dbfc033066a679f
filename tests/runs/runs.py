"""A small run in this process: prepared, tuned, written."""

from sobercv.runs.folder import RunFolder
from sobercv.runs.prepare import begin, prepare
from sobercv.tables import Settings

from ..cli.conftest import table

ROLES = {"survival": {"time": "months", "event": "died"}}


def settings(folder, task="binary", **more):
    path = folder / f"{task}.csv"
    table(task).to_csv(path, index=False)
    roles = ROLES.get(task, {"target": "y"})
    return Settings(data=str(path), preset="quick", configurations=3, cv=3, jobs=1, **roles, **more)


def prepared(folder, task="binary", **more):
    return prepare(settings(folder, task, **more))


def begun_in(folder, ready):
    run = RunFolder(folder / "run")
    run.path.mkdir()
    return run, begin(run, ready)
