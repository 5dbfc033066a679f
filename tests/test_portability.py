"""What POSIX has and Windows lacks is taken away: the main jobs must run all the same.

This is not Windows: its paths, its rules for files that are open and its way to start processes are not imitated.
"""

import subprocess
import sys
import textwrap

PRELUDE = """
import os, pkgutil, select, signal, socket, subprocess, sys, types
import filelock, joblib.externals.loky, multiprocessing, numba, numpy, pandas, pyarrow.compute, pyarrow.csv, pyarrow.parquet
import rich.console, skops.io, skrub, sklearn.ensemble, sklearn.linear_model, sksurv.linear_model, typer.testing

LACKING = {
    os: '''chroot chown confstr ctermid dup3 eventfd fchdir fchown fdatasync fork forkpty fpathconf getegid
        geteuid getgid getgrouplist getgroups getloadavg getpgid getpgrp getpriority getresgid getresuid getsid getuid
        initgroups killpg lchown lockf major makedev memfd_create minor mkfifo mknod nice openpty pathconf
        pidfd_open pipe2 posix_fadvise posix_fallocate posix_openpt posix_spawn posix_spawnp pread preadv pwrite pwritev
        readv register_at_fork sched_getaffinity sched_setaffinity sched_yield sendfile setegid seteuid setgid setgroups
        setpgid setpgrp setpriority setregid setresgid setresuid setreuid setsid setuid splice statvfs sync sysconf
        tcgetpgrp tcsetpgrp ttyname uname wait wait3 wait4 waitid WEXITSTATUS WIFEXITED WIFSIGNALED WNOHANG WTERMSIG
        writev''',
    signal: '''ITIMER_REAL SIGALRM SIGBUS SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1
        SIGUSR2 SIG_BLOCK SIG_SETMASK SIG_UNBLOCK alarm getitimer pause pthread_kill pthread_sigmask setitimer
        siginterrupt sigpending sigtimedwait sigwait sigwaitinfo''',
    select: "epoll poll EPOLLIN POLLIN",
    socket: "AF_UNIX",
}
LACKING = {module: names.split() for module, names in LACKING.items()}
GONE = ("fcntl", "grp", "posix", "pwd", "resource", "syslog", "termios", "tty")

# While our modules are imported, these names are absent ...
kept = {(module, name): getattr(module, name) for module, names in LACKING.items() for name in names
        if hasattr(module, name)}
modules = {name: sys.modules.pop(name, None) for name in GONE}
for module, name in kept:
    delattr(module, name)
sys.modules.update(dict.fromkeys(GONE))  # an import raises ImportError
import sobercv
for found in pkgutil.walk_packages(sobercv.__path__, "sobercv."):
    if not found.name.endswith(("__main__", ".mlflow", "clusters")):
        __import__(found.name)
# ... and afterwards our modules alone lack them: libraries that start processes need them here.
for (module, name), value in kept.items():
    setattr(module, name, value)
for name in GONE:
    del sys.modules[name]
sys.modules.update({name: module for name, module in modules.items() if module is not None})
lesser = {}
for module, names in LACKING.items():
    lesser[module] = types.ModuleType(module.__name__)
    vars(lesser[module]).update({name: value for name, value in vars(module).items() if name not in names})
lesser[os].name = "nt"
replaced = set()
for module in [module for name, module in sys.modules.items() if name.startswith("sobercv")]:
    for name, value in list(vars(module).items()):
        if isinstance(value, types.ModuleType) and value in lesser:
            setattr(module, name, lesser[value])
            replaced.add(f"{module.__name__}.{name}")
assert {"sobercv.runs.folder.os", "sobercv.training.pool.processes.os", "sobercv.signals.signal"} <= replaced, replaced
"""


def run_without_posix(tmp_path, body):
    script = tmp_path / "script.py"
    script.write_text(PRELUDE + "\nif __name__ == '__main__':\n" + textwrap.indent(textwrap.dedent(body), "    "))
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    return done.stdout


def test_a_table_becomes_a_report_and_predictions(tmp_path):
    said = run_without_posix(
        tmp_path,
        """
        from sobercv.cli import main

        def sober(*arguments):
            try:
                main(list(arguments))
            except SystemExit as end:
                assert not end.code, (arguments, end.code)

        sober("example", "breast_cancer")
        small = pandas.read_csv("breast_cancer.csv").head(80).to_csv("small.csv", index=False)
        fit = ("--target", "diagnosis", "--preset", "quick", "--configurations", "3", "--cv", "3", "-o", "run")
        sober("check", "small.csv", *fit[:4])
        sober("fit", "small.csv", *fit, "--jobs", "2")
        sober("resume", "run")
        sober("report", "run", "-o", "again.html")
        sober("predict", "run", "small.csv", "-o", "predicted.csv")
        sober("example", "oof")
        sober("correct", "oof.csv", "--target", "benign", "--metric", "roc_auc")
        assert len(pandas.read_csv("predicted.csv")) == 80
        """,
    )
    assert "honest score" in said
    assert {"report.html", "results.json", "model.skops"} <= {path.name for path in (tmp_path / "run").iterdir()}
    assert not list((tmp_path / "run").glob(".sober-*"))


def test_searches_with_processes_threads_and_a_store(tmp_path):
    said = run_without_posix(
        tmp_path,
        """
        from sklearn.datasets import load_breast_cancer
        from sklearn.linear_model import LogisticRegression

        X, y = load_breast_cancer(return_X_y=True)
        grid = {"C": [0.01, 0.1, 1]}

        def search(n_jobs, **options):
            made = sobercv.BBCSearchCV(LogisticRegression(max_iter=5000), grid, cv=3, n_jobs=n_jobs, **options)
            return made.fit(X[:90], y[:90]).estimate_.value

        alone = search(1, store="run.sqlite")
        assert search(1, store="run.sqlite") == alone
        assert search(2) == alone
        with joblib.parallel_config("threading"):
            assert search(2) == alone
        assert search(2, fit_timeout=60, max_seconds=120) == alone
        print("the same", alone)
        """,
    )
    assert said.startswith("the same")
