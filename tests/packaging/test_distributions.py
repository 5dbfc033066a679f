"""What is built: the wheel holds what the package reads, the sdist what its tests read. `make build` installs both."""

import configparser
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import sobercv

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_wheel_holds_every_file_of_the_package(dist):
    (path,) = dist.glob("sobercv-*.whl")
    with zipfile.ZipFile(path) as wheel:
        names = set(wheel.namelist())
        (entries,) = (n for n in names if n.endswith("entry_points.txt"))
        scripts = configparser.ConfigParser()
        scripts.read_string(wheel.read(entries).decode())
    source = ROOT / "src"
    wanted = {p.relative_to(source).as_posix() for p in (source / "sobercv").rglob("*") if p.is_file()}
    assert {n for n in wanted if "__pycache__" not in n} <= names
    assert dict(scripts["console_scripts"]) == {"sober": "sobercv.cli:main", "sobercv": "sobercv.cli:main"}


def test_the_sdist_holds_what_its_tests_read(dist):
    (path,) = dist.glob("sobercv-*.tar.gz")
    with tarfile.open(path) as sdist:
        names = {n.split("/", 1)[1] for n in sdist.getnames() if "/" in n}
    for folder in ("tests", "docs", "examples", "studies", "benchmarks", "src"):
        files = (p for p in (ROOT / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts)
        missing = {p.relative_to(ROOT).as_posix() for p in files if p.suffix in {".py", ".md", ".txt", ".csv"}} - names
        assert not missing
    assert {"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "Makefile"} <= names


def test_the_version_stands_in_one_place(dist):
    assert {p.name.split("-")[1].removesuffix(".tar.gz") for p in dist.iterdir()} == {sobercv.__version__}
    assert f"version: {sobercv.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_nobody_is_told_to_install_another_project():
    """PyPI's `sober` is a stranger's."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    for page in pages:
        text = page.read_text()
        for line in ("install sober ", "install 'sober[", "install sober["):
            assert line not in text, page
