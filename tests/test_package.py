"""The package as an object: what scripts, notebooks and workers do with it."""

import pkgutil
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import cloudpickle

import sobercv


def test_the_package_travels():
    assert cloudpickle.loads(cloudpickle.dumps(sobercv)) is sobercv


def test_functions_of_a_script_may_use_it_in_workers(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import joblib, sobercv\n"
        "def corrected(seed):\n"
        "    y = [0, 1] * 10\n"
        "    return sobercv.naive(y, [[v] for v in y], 'accuracy', n_jobs=1).value\n"
        "if __name__ == '__main__':\n"
        "    print(joblib.Parallel(n_jobs=2)(joblib.delayed(corrected)(s) for s in range(2)))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=1200)
    assert done.stdout.strip() == "[1.0, 1.0]", done.stderr


def test_no_module_is_hidden_behind_a_function():
    for found in pkgutil.walk_packages(sobercv.__path__, "sobercv."):
        if not found.name.endswith("__main__"):
            import_module(found.name)
            parent, _, name = found.name.rpartition(".")
            assert isinstance(getattr(sys.modules[parent], name), ModuleType), found.name
    assert callable(sobercv.compare)


def test_every_public_name_is_there_from_the_start():
    command = (
        "import sobercv; print([n for n in sobercv.__all__ if not hasattr(sobercv, n)], sobercv.progress.JsonLines)"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, timeout=1200)
    assert done.stdout.startswith("[] <class"), done.stderr


def test_modules_that_messages_name_are_found_by_the_package_alone():
    code = "import sobercv; print(sobercv.optuna.replay, sobercv.presets.get, sobercv.feature_selection.SES)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
