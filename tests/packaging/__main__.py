"""`make build`: builds wheel and sdist, installs each in an empty environment, and uses what is installed.

The wheel tunes on a table from the command line, in an empty folder; the sdist runs its own tests from where it was
unpacked (`--quick` runs a few of them).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]


def build(folder):
    """Build both; return the paths of the wheel and the sdist."""
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def empty_environment(folder, *packages):
    """Make an environment with nothing but these packages; return the folder of its commands."""
    venv.create(folder)
    tools = folder / ("Scripts" if os.name == "nt" else "bin")
    run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", tools / "python", *packages)
    return tools


def use_wheel(wheel, folder):
    tools = empty_environment(folder / "wheel", f"{wheel}[cli]")
    here = folder / "empty"
    here.mkdir()
    run(tools / "sober", "example", "breast_cancer", cwd=here)
    for command in ("sober", "sobercv"):
        run(tools / command, "--version", cwd=here)
    options = ["--target", "diagnosis", "--preset", "quick", "--quiet", "-o", "run"]
    run(tools / "sober", "fit", "breast_cancer.csv", *options, cwd=here)
    assert (here / "run" / "report.html").stat().st_size > 10_000


def use_sdist(sdist, folder, quick):
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    tools = empty_environment(folder / "sdist", f"{source}[all]", "--group", f"{source}/pyproject.toml:dev")
    tests = ["tests/inference", "tests/test_package.py"] if quick else ["tests"]
    run(tools / "python", "-m", "pytest", "-n", "2", *tests, cwd=source)


def run(*command, cwd=None):
    print("$", *command, flush=True)
    subprocess.run([os.fspath(c) for c in command], check=True, cwd=cwd)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.packaging", description=__doc__)
    parser.add_argument("dist", type=Path, help="where wheel and sdist are left")
    parser.add_argument("--quick", action="store_true", help="a few tests of the sdist instead of all")
    options = parser.parse_args()
    wheel, sdist = build(options.dist.resolve())
    with tempfile.TemporaryDirectory() as folder:
        use_wheel(wheel, Path(folder))
        use_sdist(sdist, Path(folder), options.quick)
    print(f"{wheel.name} and {sdist.name} work in empty environments.")


if __name__ == "__main__":
    main()
