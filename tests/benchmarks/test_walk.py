"""What a call walks: functions count once and by package; bodies of modules and classes and comprehensions do not."""

import sys
import threading

from benchmarks import walk

SOURCE = """
class Kind:
    size = [k for k in range(3)]

    def method(self):
        return [helper(k) for k in range(3)]


def helper(k):
    return k


def call():
    Kind().method()
    return helper(1)
"""


def test_functions_count_once_wherever_they_run(monkeypatch):
    monkeypatch.setattr(walk, "ROOT", "/walked/")
    module = {"__name__": "sobercv.some"}
    counter = walk.Walk()
    sys.setprofile(counter)
    threading.setprofile(counter)
    try:
        exec(compile(SOURCE, "/walked/some/module.py", "exec"), module)
        thread = threading.Thread(target=module["call"])
        thread.start()
        thread.join()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert {name for *_, name in counter.functions} == {"Kind.method", "helper", "call"}
    assert counter.counts() == {"functions": 3, "files": 1, "kinds of objects": 1, "in some": 3}


def test_bbc_walks_inference_and_metrics_only():
    counts = walk.walked("bbc")
    packages = [name for name in counts if name.startswith("in ")]
    assert {"in inference", "in metrics"} <= set(packages)
    assert "in training" not in packages
    assert counts["functions"] == sum(counts[name] for name in packages)


def test_calls_stand_beside_each_other():
    counts = {"bbc": {"functions": 4, "in a": 3, "in c": 1}, "fit": {"functions": 9, "in b": 7, "in a": 2}}
    assert walk.table(counts) == [
        ["count", "bbc", "fit"],
        ["functions", "4", "9"],
        ["in b", "0", "7"],
        ["in a", "3", "2"],
        ["in c", "1", "0"],
    ]
