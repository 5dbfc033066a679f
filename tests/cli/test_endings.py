"""How a command ends as a process: by a signal, by a closed pipe, in another language; never with a traceback."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import sobercv
from sobercv.cli.exit_code import exit_code_of

from .conftest import SMALL, table

SOBER = [sys.executable, "-m", "sobercv.cli"]
#: Long enough to be met in any phase.
LONG = ("--target", "y", "--preset", "quick", "--configurations", "6", "--cv", "5", "--jobs", "1")
PATIENCE = 600  # seconds: far more than a busy machine needs


@pytest.fixture
def environment(tmp_path):
    return {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONUNBUFFERED": "1", "COLUMNS": "100"}


@pytest.fixture
def begin(tmp_path, environment):
    """Start a command; what is still alive at the end of the test is killed."""
    started = []

    def go(*arguments, **options):
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment, **options}
        process = subprocess.Popen([*SOBER, *arguments], cwd=tmp_path, text=True, **given)
        started.append(process)
        return process

    yield go
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_for(process, start):
    for line in process.stderr:
        if line.startswith(start):
            return
    raise AssertionError(f"{start!r} was never said")


@pytest.mark.parametrize(
    ("number", "code", "phase"),
    [
        (signal.SIGTERM, 143, "round 2"),
        pytest.param(signal.SIGHUP, 129, "round 2", marks=pytest.mark.soak),
        pytest.param(signal.SIGINT, 130, "round 2", marks=pytest.mark.soak),
        (signal.SIGTERM, 143, "training the final model"),
        pytest.param(signal.SIGINT, 130, "shuffling", marks=pytest.mark.soak),
    ],
)
def test_a_signal_keeps_what_is_done_and_resume_finishes(tmp_path, begin, sober, number, code, phase):
    table(n=400).to_csv(tmp_path / "data.csv", index=False)
    running = begin("fit", "data.csv", *(LONG if phase == "round 2" else (*SMALL, "--target", "y")), "-o", "run")
    wait_for(running, phase)
    running.send_signal(number)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == code, err
    assert "sober resume run" in err
    assert "Traceback" not in err
    if phase == "round 2" and "configurations" in out:
        assert " finished" not in out
        assert "still in the race" in out
    done = sober("resume", "run", "--json", "--fast")
    assert done.code == 0, done.err
    results = json.loads(done.out)
    assert results["stopped"] == "finished"
    assert results["model"] is not None


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_modules_are_imported_leaves_no_traceback(tmp_path, number, code):
    # A module that is imported first sends the signal while `sobercv.cli.app` is on its way.
    (tmp_path / "typer.py").write_text(
        f"import os, time\nos.kill(os.getpid(), {int(number)})\nfor _ in range(100): time.sleep(0.05)\n"
    )
    run = "import sys; sys.path.insert(0, sys.argv.pop(1)); from sobercv.cli import main; main()"
    ended = subprocess.run([sys.executable, "-c", run, tmp_path, "--help"], capture_output=True, text=True)
    assert ended.returncode == code
    assert ended.stderr == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_arguments_are_read(number, code):
    run = (
        "import os; from sobercv.cli import app, main\n"
        f"app.app.registered_callback.callback = lambda: os.kill(os.getpid(), {int(number)})\n"
        "main(['check', 'data.csv'])"
    )
    ended = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True)
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr


def test_no_destructor_of_a_library_can_abort_a_command_that_is_done():
    """`sober predict` ended with 134 (SIGABRT) once, after everything was written."""
    run = (
        "import ctypes; libc = ctypes.CDLL(None); libc.__cxa_atexit(libc.abort, None, None)\n"
        "from sobercv.cli import main; main(['--version'])"
    )
    ended = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, f"sober {sobercv.__version__}\n")


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=pytest.mark.soak),
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.soak),
    ],
)
def test_a_signal_while_the_table_is_read(tmp_path, begin, number, code):
    os.mkfifo(tmp_path / "data.csv")
    running = begin("fit", "data.csv", "--target", "y", *SMALL, "-o", "run")
    with open(tmp_path / "data.csv", "w") as pipe:  # opens when the other side does
        pipe.write("a,y\n")
        pipe.flush()
        time.sleep(0.2)
        running.send_signal(number)
        _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == code, err
    assert err.strip() == ("sober: Interrupted." if number == signal.SIGINT else "sober: Terminated.")


@pytest.mark.parametrize(
    ("number", "code"), [pytest.param(signal.SIGINT, 130, marks=pytest.mark.soak), (signal.SIGTERM, 143)]
)
def test_a_signal_before_one_fold_is_complete(tmp_path, begin, number, code):
    table(n=4000).to_csv(tmp_path / "data.csv", index=False)
    running = begin("fit", "data.csv", "--target", "y", "--preset", "thorough", "--jobs", "1", "-o", "run")
    wait_for(running, "4,000 rows")
    time.sleep(0.5)
    running.send_signal(number)
    _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == code, err
    assert "Continue with: sober resume run" in err


def test_a_signal_that_is_ignored_stays_ignored(tmp_path, begin):
    table(n=60).to_csv(tmp_path / "data.csv", index=False)
    running = begin(
        "fit", "data.csv", "--target", "y", *SMALL, "--fast", "-o", "run",
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    wait_for(running, "round 1")
    running.send_signal(signal.SIGHUP)
    assert running.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    "command",
    [
        ("--help",),
        ("report", "run"),
        pytest.param(("report", "run", "--json"), marks=pytest.mark.soak),
        ("predict", "run", "data.csv"),
        ("check", "data.csv", "--target", "y", *SMALL),
    ],
)
def test_a_reader_who_has_seen_enough_is_no_failure(tmp_path, begin, run_folder, command, environment):
    environment["XDG_STATE_HOME"] = str(tmp_path / ".state")
    read, write = os.pipe()
    os.close(read)  # gone before a word is written
    process = begin(*command, stdout=write)
    os.close(write)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert "BrokenPipe" not in err


def test_an_error_that_follows_a_broken_pipe_is_still_an_error(capsys):
    for error, code in ((sobercv.SoberError("E602", "A worker died."), 1), (KeyboardInterrupt(), 130)):
        error.__context__ = BrokenPipeError()
        assert exit_code_of(error, debug=False) == code
        assert capsys.readouterr().err


def test_that_nobody_reads_the_messages_is_no_reason_to_end_a_run(tmp_path, begin):
    table().to_csv(tmp_path / "data.csv", index=False)
    read, write = os.pipe()
    os.close(read)
    process = begin("fit", "data.csv", "--target", "y", *SMALL, "--fast", "-o", "run", stderr=write)
    os.close(write)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "honest score" in out
    assert (tmp_path / "run" / "model.skops").exists()


def test_names_with_accents_work_in_the_c_locale(tmp_path, sober, environment):
    frame = table().rename(columns={"y": "\u00e9tat"})
    frame["\u00e9tat"] = frame["\u00e9tat"].map({"ill": "mal\u00e0de", "well": "bi\u00e9n"})
    frame.to_csv(tmp_path / "donn\u00e9.csv", index=False)
    plain = {**environment, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}

    def go(*arguments):
        given = [os.fsencode(a) for a in (*SOBER, *arguments)]
        return subprocess.run(given, cwd=tmp_path, env=plain, capture_output=True)

    fit = go("fit", "donn\u00e9.csv", "--target", "\u00e9tat", *SMALL, "--fast", "-o", "r\u00fcn")
    assert fit.returncode == 0, fit.stderr
    assert b"honest score" in fit.stdout
    predicted = go("predict", "r\u00fcn", "donn\u00e9.csv")
    assert predicted.stdout.decode().startswith(".row,.pred_class,.pred_bi\u00e9n,.pred_mal\u00e0de\n")
    resumed = sober("resume", "r\u00fcn", "-q")  # this process has another locale
    assert resumed.code == 0, resumed.err


def test_two_runs_in_one_folder_are_not_mixed(tmp_path, begin, sober):
    table(n=400).to_csv(tmp_path / "data.csv", index=False)
    running = begin("fit", "data.csv", *LONG, "-o", "run")
    wait_for(running, "round 1")
    before = (tmp_path / "run" / "settings.json").read_bytes()
    for command in (
        ("fit", "data.csv", "--target", "y", *SMALL, "-o", "run", "--overwrite"),
        ("resume", "run"),
        ("extend", "run", "--repeats", "5"),
    ):
        ended = sober(*command)
        assert ended.code == 2
        assert "E501" in ended.err
    assert (tmp_path / "run" / "settings.json").read_bytes() == before
    running.kill()
    running.wait()
    assert sober("resume", "run", "-q", "--fast").code == 0, "the lock ends with its process"
