"""The package as an object: what scripts, notebooks and workers do with it."""

import pickle
import subprocess
import sys

import cloudpickle

import sober


def test_the_package_travels():
    assert pickle.loads(pickle.dumps(sober)) is sober
    assert cloudpickle.loads(cloudpickle.dumps(sober)) is sober


def test_functions_of_a_script_may_use_it_in_workers(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import joblib, sober\n"
        "def corrected(seed):\n"
        "    y = [0, 1] * 10\n"
        "    return sober.naive(y, [[v] for v in y], 'accuracy', n_jobs=1).value\n"
        "if __name__ == '__main__':\n"
        "    print(joblib.Parallel(n_jobs=2)(joblib.delayed(corrected)(s) for s in range(2)))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "[1.0, 1.0]", done.stderr


def test_compare_stays_a_function():
    import sober.compare

    assert callable(sober.compare)
