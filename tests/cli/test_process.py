"""The command as a process: it starts fast, survives Ctrl-C, and knows whom to trust."""

import os
import subprocess
import sys

import pytest
import skops.io

from .conftest import SMALL, table

SOBER = [sys.executable, "-m", "sobercv.cli"]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--help",),
        ("fit", "--tarket", "y"),
        ("check", "missing.csv", "--target", "y"),
        ("fit", "missing.csv", "--target", "y"),
        ("fit", "data.csv", "--target", "y", "--preset", "slow"),
        ("fit", "data.csv", "--target", "y", "--cv", "1"),
        ("fit", "data.csv", "--target", "y", "-o", "full"),
        ("compare", "missing.csv", "--target", "y"),
        ("correct", "missing.csv", "--target", "y"),
        ("predict", "missing", "data.csv"),
        ("report", "missing"),
        ("resume", "missing"),
    ],
    ids=" ".join,
)
def test_help_and_errors_about_paths_and_options_import_nothing_heavy(tmp_path, arguments):
    (tmp_path / "data.csv").write_text("a,y\n1,2\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    code = (
        f"import sys; from sobercv.cli.app import run; code = run({list(arguments)}); assert code == {2 * (len(arguments) > 1)}\n"
        "heavy = {'sklearn', 'numba', 'pandas', 'scipy'} & set(sys.modules); assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ("Usage: sober" in done.stdout) == (len(arguments) < 2)


def test_completion_knows_commands_and_values():
    def complete(words):
        environment = {
            **os.environ,
            "_SOBER_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split())),
        }
        done = subprocess.run([*SOBER], env=environment, capture_output=True, text=True)
        return done.stdout.split()

    assert {"check", "fit", "correct"} <= set(complete("sober "))
    assert "quick" in complete("sober fit --preset ")


def test_a_model_that_was_cut_is_refused(sober, run_folder):
    (run_folder / "model.skops").write_bytes((run_folder / "model.skops").read_bytes()[:-100])
    ended = sober("predict", "run", "data.csv")
    assert ended.code == 2
    assert "E809" in ended.err


class Evil:
    """What a model of sober is not made of."""

    def predict(self, X):
        raise AssertionError("it was loaded")


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("sksurv.ensemble", "needs scikit-survival, which is not installed: pip install 'sobercv[survival]'. [E403]"),
        ("skrub", "needs skrub, which is not installed: pip install skrub. [E403]"),
    ],
)
def test_a_package_that_the_model_needs_is_named(sober, run_folder, monkeypatch, module, said):
    def loads(*_, **__):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    monkeypatch.setattr("skops.io.loads", loads)
    ended = sober("predict", run_folder, "data.csv")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


def test_a_model_of_other_types_is_not_loaded(sober, run_folder):
    (run_folder / "model.skops").write_bytes(skops.io.dumps(Evil()))
    ended = sober("predict", "run", "data.csv")
    assert ended.code == 2
    assert "E810" in ended.err
    assert "Evil" in ended.err


def test_new_rows_must_have_the_columns(sober, run_folder, tmp_path):
    table().drop(columns="good").to_csv(tmp_path / "new.csv", index=False)
    ended = sober("predict", "run", "new.csv")
    assert ended.code == 2
    assert "lack 1 of 2 columns: 'good'" in ended.err
    table().assign(good="much").to_csv(tmp_path / "new.csv", index=False)
    assert "was numeric in training but contains 'much' now" in sober("predict", "run", "new.csv").err
    table().drop(columns="y").assign(more=1).to_csv(tmp_path / "new.csv", index=False)
    assert sober("predict", "run", "new.csv", "-o", "p.csv").code == 0
    assert (tmp_path / "p.csv").read_text().startswith(".row,")


def test_data_that_changed_are_refused_and_data_that_moved_are_found(sober, run_folder, tmp_path):
    (tmp_path / "data.csv").rename(tmp_path / "moved.csv")
    assert "If it has moved, name it with --data. [E801]" in sober("resume", "run").err
    assert sober("resume", "run", "--data", "moved.csv", "-q").code == 0
    with (tmp_path / "moved.csv").open("a") as file:
        file.write("1,2,ill\n")
    ended = sober("resume", "run")
    assert ended.code == 2
    assert "E502" in ended.err


def test_overwrite_begins_anew_and_report_writes_again(sober, run_folder, tmp_path):
    assert sober("fit", "data.csv", "--target", "y", *SMALL, "-o", "run", "--overwrite", "-q").code == 0
    (run_folder / "report.html").unlink()
    ended = sober("report", "run")
    assert ended.code == 0
    assert "honest score" in ended.out
    assert (run_folder / "report.html").exists()
    assert sober("report", "run", "-o", "mine.html", "-q").code == 0
    assert (tmp_path / "mine.html").read_text() == (run_folder / "report.html").read_text()


def test_version(sober):
    assert sober("--version").out.startswith("sober ")
