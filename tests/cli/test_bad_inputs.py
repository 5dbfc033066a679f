"""Bad inputs: each ends with exit code 2 and one clear sentence; a traceback is a failure."""

import json
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

from .conftest import table

BEGUN = '{"settings": {}, "sha256": "x", "versions": {}, "format": 5}'
GOOD = table().to_csv(index=False)
ROWS = GOOD.splitlines()


def csv(**columns):
    return table().assign(**columns).to_csv(index=False)


def long(**columns):
    """Predictions as tidymodels collects them: two configurations, two folds."""
    frame = pd.DataFrame({
        "id": np.tile(["Fold1", "Fold2"], 20), ".row": np.tile(np.arange(1, 21), 2),
        ".config": np.repeat(["a", "b"], 20), ".pred_yes": np.linspace(0, 1, 40), ".pred_no": 1 - np.linspace(0, 1, 40),
        "y": np.tile(np.repeat(["no", "yes"], 10), 2),
    })  # fmt: skip
    return frame.assign(**columns).to_csv(index=False)


def wide(**columns):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"y": np.arange(60) % 2, "a": rng.random(60), "b": rng.random(60)})
    return frame.assign(**columns).to_csv(index=False)


CHECK = ("check", "d.csv", "--target", "y")
PARQUET = ("check", "d.parquet", "--target", "y")
SURVIVAL = ("check", "d.csv", "--time", "t", "--event", "e")
FIT = ("fit", "d.csv", "--target", "y", "-o", "run")
WIDE = ("correct", "p.csv", "--target", "y")
NUMBERED = "\n".join([ROWS[0], *(f"{i},{row}" for i, row in enumerate(ROWS[1:]))])
DATES = table().assign(y=pd.Timestamp("2020-01-01"))
# name, files to write, arguments, what the sentence must say
BAD = [
    # ---- usage
    ("no such command", {}, ("ceck",), "No such command.*check"),
    ("no such option", {}, ("fit", "d.csv", "--tarket", "y"), "No such option.*--target"),
    ("another tool's option", {}, ("fit", "d.csv", "--folds", "5"), "No such option: --folds. Did you mean --cv"),
    ("a word where a number belongs", {}, ("fit", "d.csv", "--target", "y", "--cv", "ten"), "--cv"),
    ("a command without its folder", {}, ("resume",), "Missing argument .*folder"),
    ("extend without repeats", {}, ("extend", "run"), "--repeats"),
    ("nothing to read", {}, ("check", "--target", "y"), "Name the file"),
    ("no target", {"d.csv": GOOD}, ("check", "d.csv"), "--target COLUMN"),
    ("both kinds of target", {"d.csv": GOOD}, (*CHECK, "--time", "good"), "not both"),
    ("time without event", {"d.csv": GOOD}, ("check", "d.csv", "--time", "good"), "--event"),
    ("event without time", {"d.csv": GOOD}, ("check", "d.csv", "--event", "y"), "--time"),
    ("time is event", {"d.csv": GOOD}, ("check", "d.csv", "--event", "y", "--time", "y"), "same column"),
    ("one fold", {"d.csv": GOOD}, (*CHECK, "--cv", "1"), "no less than 2"),
    ("no repeat", {"d.csv": GOOD}, (*CHECK, "--repeats", "0"), "no less than 1"),
    ("a negative seed", {"d.csv": GOOD}, (*CHECK, "--seed", "-1"), "no less than 0"),
    ("a huge seed", {"d.csv": GOOD}, (*CHECK, "--seed", str(2**40)), "no more than"),
    ("no jobs", {"d.csv": GOOD}, (*CHECK, "--jobs", "0"), "-1 for all cores"),
    ("one configuration", {"d.csv": GOOD}, (*CHECK, "--configurations", "1"), "no less than 2"),
    ("no time at all", {"d.csv": GOOD}, ("fit", "d.csv", "--target", "y", "--max-time", "soon"), "10m or 2h"),
    ("an unknown preset", {"d.csv": GOOD}, (*CHECK, "--preset", "quik"), "quick"),
    ("an unknown metric", {"d.csv": GOOD}, (*CHECK, "--metric", "auc"), "roc_auc"),
    ("a metric for numbers", {"d.csv": GOOD}, (*CHECK, "--metric", "r2"), "r2"),
    ("an unknown task", {"d.csv": GOOD}, (*CHECK, "--task", "guess"), "multiclass"),
    ("survival of a target", {"d.csv": GOOD}, (*CHECK, "--task", "survival"), "--time and --event"),
    ("regression of words", {"d.csv": GOOD}, (*CHECK, "--task", "regression"), "needs numbers"),
    ("two metrics to compare by", {"d.csv": GOOD}, ("compare", "d.csv", "--target", "y", "--metric", "roc_auc,f1"), "one metric"),
    ("an unknown protocol", {"d.csv": GOOD}, ("compare", "d.csv", "--target", "y", "--protocols", "magic"), "magic"),
    # ---- settings
    ("no such settings", {"d.csv": GOOD}, (*CHECK, "--settings", "my.toml"), "no settings file"),
    ("settings that are not TOML", {"sober.toml": "target: y"}, ("check", "d.csv"), "not valid TOML"),
    ("an unknown setting", {"sober.toml": 'tarket = "y"'}, ("check", "d.csv"), "target"),
    ("a setting of the wrong kind", {"sober.toml": 'cv = "ten"'}, ("check", "d.csv"), "whole number"),
    ("a number for a name", {"sober.toml": "target = 3"}, ("check", "d.csv"), "in quotes"),
    ("a word for a switch", {"sober.toml": 'quiet = "yes"'}, ("check", "d.csv"), "true or false"),
    # ---- files
    ("no such file", {"data.csv": GOOD}, ("check", "dat.csv", "--target", "y"), "data.csv"),
    ("no such folder", {}, ("check", "no/where/d.csv", "--target", "y"), "no file"),
    ("a folder", {"in/d.csv": GOOD}, ("check", "in", "--target", "y"), "is a folder"),
    ("an empty file", {"d.csv": ""}, CHECK, "is empty"),
    ("only white space", {"d.csv": "\n\n  \n"}, CHECK, "is empty"),
    ("a header only", {"d.csv": "a,b,y\n"}, CHECK, "no rows"),
    ("a PDF", {"d.csv": b"%PDF-1.7 \x00\x01"}, CHECK, "a PDF"),
    ("an Excel file that is none", {"d.xlsx": "zip"}, ("check", "d.xlsx", "--target", "y"), "a zip file.*CSV"),
    ("a binary file", {"d.csv": b"a,b\x00\x01\x02,y\n1,2,3"}, CHECK, "not a text file"),
    ("half a gzip", {"d.csv.gz": b"\x1f\x8b\x08\x00\x00"}, ("check", "d.csv.gz", "--target", "y"), "damaged gzip"),
    ("text called parquet", {"d.parquet": GOOD}, PARQUET, "is not parquet despite its name"),
    ("half a parquet", {"d.parquet": b"PAR1 and no more"}, PARQUET, "damaged parquet"),
    ("half an arrow", {"d.arrow": b"ARROW1\x00\x00half"}, ("check", "d.arrow", "--target", "y"), "damaged arrow"),
    ("JSON", {"d.json": '[{"y": 1}]'}, ("check", "d.json", "--target", "y"), "JSON"),
    ("a web page", {"d.csv": "<!DOCTYPE html><p>y</p>"}, CHECK, "web page"),
    ("UTF-16 that is none", {"d.csv": b"\xff\xfea"}, CHECK, "Save it again as UTF-8"),
    # ---- tables
    ("a row too long", {"d.csv": "\n".join([*ROWS[:5], "1,2,ill,4,5,6", *ROWS[5:]])}, CHECK, "line 6 has 6 fields.*3"),
    ("row names without a name", {"d.csv": NUMBERED}, CHECK, "R writes"),
    ("a quote never closed", {"d.csv": GOOD.replace("ill", '"ill', 1)}, CHECK, "quote is opened and never closed"),
    ("a missing target", {"d.csv": GOOD}, ("check", "d.csv", "--target", "Y"), "Did you mean 'y'"),
    ("a far name", {"d.csv": GOOD}, ("check", "d.csv", "--target", "outcome"), "The columns are 'good'"),
    ("a missing group", {"d.csv": GOOD}, (*CHECK, "--group", "patient"), "no column 'patient'"),
    ("a missing id", {"d.csv": GOOD}, (*CHECK, "--id", "patient"), "no column 'patient'"),
    ("ignoring nothing", {"d.csv": GOOD}, (*CHECK, "--ignore", "gut"), "no column 'gut'"),
    ("the target as group", {"d.csv": GOOD}, (*CHECK, "--group", "y"), "both the target and group"),
    ("ignoring the target", {"d.csv": GOOD}, (*CHECK, "--ignore", "y"), "both the target and ignored"),
    ("two targets of one name", {"d.csv": "y,a,y\n" + "1,2,3\n" * 30}, CHECK, "Several columns"),
    ("a target without values", {"d.csv": csv(y=None)}, CHECK, "missing in every row"),
    ("a constant target", {"d.csv": csv(y="ill")}, CHECK, "in every row, so nothing"),
    ("dates to predict", {"d.parquet": DATES}, PARQUET, "holds dates"),
    ("words to predict", {"d.csv": csv(y=[f"word {i}" for i in range(60)])}, CHECK, "60 different values"),
    ("numbers in two ways", {"d.csv": "a;y\n" + "1,234;2\n2,345;1\n" * 30}, CHECK, "1.234 or 1234. Write --decimal ,"),
    ("one word among numbers", {"d.csv": csv(y=["much", *range(59)])}, CHECK, r"correct or remove 'much'"),
    ("infinite targets", {"d.csv": csv(y=[np.inf, *np.linspace(0, 1, 59)])}, CHECK, "infinite"),
    ("fractions as classes", {"d.csv": csv(y=np.linspace(0, 1, 60))}, (*CHECK, "--task", "multiclass"), "fractions"),
    ("three classes as two", {"d.csv": csv(y=np.arange(60) % 3)}, (*CHECK, "--task", "binary"), "3 classes, not 2"),
    ("only a target", {"d.csv": "y\n" + "1\n0\n" * 20}, CHECK, "No column is left"),
    ("constant columns only", {"d.csv": csv(good=1, useless=None)}, CHECK, "constant or empty"),
    ("infinite numbers", {"d.csv": csv(good=np.inf)}, CHECK, "infinite values .*: 'good'"),
    ("a class too rare", {"d.csv": csv(y=["odd"] * 2 + ["even"] * 58)}, CHECK, "'odd' has 2 rows.*--cv 2"),
    ("few rows", {"d.csv": "\n".join(ROWS[:5])}, CHECK, "Collect more data"),
    ("more folds than rows", {"d.csv": GOOD}, (*CHECK, "--cv", "61"), "Write --cv 60"),
    ("two groups", {"d.csv": csv(p=np.arange(60) % 2)}, (*CHECK, "--group", "p"), "groups .* at least 3"),
    ("a group with gaps", {"d.csv": csv(p=[None, *range(59)])}, (*CHECK, "--group", "p"), "missing in 1 row"),
    ("lists in cells", {"d.parquet": table().assign(l=[[1]] * 60)}, PARQUET, "list<"),
    # ---- survival
    ("words as times", {"d.csv": csv(t="long", e=1)}, SURVIVAL, "numbers"),
    ("words as events", {"d.csv": csv(t=2, e="dead")}, SURVIVAL, "1 .observed. or 0"),
    ("events 1 and 2", {"d.csv": csv(t=2, e=[1, 2] * 30)}, SURVIVAL, "'2'"),
    ("negative times", {"d.csv": csv(t=-1.5, e=1)}, SURVIVAL, "negative"),
    ("no event", {"d.csv": csv(t=np.arange(60), e=0)}, SURVIVAL, "'1' in no row"),
    ("one time", {"d.csv": csv(t=3, e=[0, 1] * 30)}, SURVIVAL, "same in every row"),
    # ---- runs
    ("no run", {}, ("resume", "run"), "no run folder"),
    ("a folder that is no run", {"run/d.csv": GOOD}, ("resume", "run"), "contains no sober run"),
    ("a report of no run", {}, ("report", "run"), "no run folder"),
    ("a report too early", {"run/settings.json": BEGUN}, ("report", "run"), "not finished"),
    ("damaged settings", {"run/settings.json": "{"}, ("resume", "run"), "damaged"),
    ("damaged results", {"run/settings.json": BEGUN, "run/results.json": '{"format": 5}'}, ("report", "run"), "damaged"),
    (
        "a prediction without a model", {"run/settings.json": BEGUN, "d.csv": GOOD}, ("predict", "run", "d.csv"),
        "not finished",
    ),
    ("no rows to predict", {"run/settings.json": BEGUN}, ("predict", "run", "d.csv"), "no file 'd.csv'"),
    ("a run into a full folder", {"d.csv": GOOD, "run/x": "x"}, FIT, "not empty"),
    ("two groups", {"d.csv": GOOD}, ("check", "d.csv", "-t", "y", "--group", "a", "--group", "b"), "was given 2 times"),
    ("a table for a run", {"d.csv": GOOD}, ("predict", "d.csv", "run"), "folder of a run first"),
    ("a run into a file", {"d.csv": GOOD}, ("fit", "d.csv", "--target", "y", "-o", "d.csv"), "is a file"),
    ("a run over a run", {"d.csv": GOOD, "run/settings.json": "{}"}, FIT, "--overwrite"),
    # ---- other tools
    ("no truth", {"p.csv": wide()}, ("correct", "p.csv"), "--target COLUMN"),
    ("the truth alone", {"p.csv": "y\n1\n0\n1\n"}, WIDE, "no column of predictions"),
    ("the winner alone", {"p.csv": "y,a\n" + "1,0.5\n0,0.3\n" * 20}, WIDE, "only one configuration"),
    ("the winner alone, long", {"p.csv": long(**{".config": "a"})}, ("correct", "p.csv"), "[Oo]nly one configuration"),
    ("rows predicted twice", {"p.csv": long(**{".row": 1, "y": "no"})}, ("correct", "p.csv"), "predicted 20 times"),
    ("in-sample predictions", {"p.csv": wide(a=np.arange(60) % 2)}, WIDE, "perfectly"),
    ("a stacked ensemble", {"p.csv": wide(WeightedEnsemble_L2=0.5)}, WIDE, "--ignore WeightedEnsemble_L2"),
    ("a truth that changes", {"p.csv": long(y=["no", "yes"] * 10 + ["yes", "no"] * 10)}, ("correct", "p.csv"), "truth"),
    ("notes among predictions", {"p.csv": wide(note="seen by K.")}, WIDE, "--ignore note"),
    ("no predictions in a long table", {"p.csv": ".row,.config,y\n1,a,0\n"}, ("correct", "p.csv"), "save_pred"),
    ("gaps in predictions", {"p.csv": wide(a=[None, *np.arange(59) / 59], b=[0.5, None, *range(58)])}, WIDE, "E111"),
]  # fmt: skip


def lay_out(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, pd.DataFrame):
            content.to_parquet(path)
        elif content == "zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("sheet.xml", "<x/>")
        elif isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, newline="")


@pytest.mark.parametrize(("name", "files", "arguments", "said"), BAD, ids=[b[0] for b in BAD])
def test_a_bad_input_gets_exit_code_2_and_one_sentence(sober, tmp_path, name, files, arguments, said):
    lay_out(tmp_path, files)
    ended = sober(*arguments)
    text = ended.err
    assert ended.code == 2, f"{ended.code}: {text}"
    assert "Traceback" not in text
    assert re.search(said, " ".join(text.split())), text
    assert re.search(r"[EWS]\d{3}", text), "a stable code"
    if arguments[0] != "check":  # check lists all findings; the others stop at the first
        assert len(text.strip().splitlines()) == 1
    assert ended.out == "" or arguments[0] == "check"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("predict", "run", "d.csv", "--threshold", "0,3"), "--threshold must be a number; got '0,3'. Write 0.3."),
        (("predict", "run", "d.csv", "--threshold", "half"), "--threshold must be a number; got 'half'. See"),
        (("predict", "run", "d.csv", "--at", "5", "--at", "2,5"), "--at must be a number; got '2,5'. Write 2.5."),
        (("predict", "run", "d.csv", "--at", "1,234"), "--at must be a number; got '1,234'. See"),
        (("fit", "d.csv", "--jobs", "1,5"), "--jobs must be a whole number; got '1,5'. See"),
    ],
)
def test_a_number_that_is_none_is_quoted(sober, arguments, said):
    ended = sober(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert ended.err.endswith("[E808]\n")


def test_there_are_enough_of_them():
    assert len(BAD) >= 60


def test_a_failure_of_ours_is_exit_code_1_in_one_sentence(sober, data, monkeypatch):
    monkeypatch.setattr("sobercv.cli.checking.seconds_needed", lambda *_: 1 / 0)
    ended = sober("check", "data.csv", "--target", "y", "--preset", "quick")
    assert ended.code == 1
    assert (
        ended.err
        == "sober: Failed with ZeroDivisionError: division by zero. This should not happen; --debug shows where. [E839]\n"
    )


def test_debug_shows_the_traceback(sober):
    ended = sober("check", "no.csv", "--target", "y", "--debug")
    assert ended.code == 2
    assert "Traceback" in ended.err


def test_check_names_every_error_at_once_also_as_json(sober, tmp_path):
    (tmp_path / "d.csv").write_text(csv(good=np.inf, y=["odd"] * 2 + ["even"] * 58))
    ended = sober(*CHECK, "--by", "useless", "--json")
    assert ended.code == 2
    errors = [found["code"] for found in json.loads(ended.out)["findings"] if found["severity"] == "error"]
    assert errors == ["E808", "E106", "E102"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report",), "Missing argument 'folder'. See sober report --help."),
        (("fit", "--seed", "two"), "See sober fit --help."),
        (("fits",), "Did you mean 'fit'? See sober --help."),
    ],
)
def test_the_help_that_is_named_is_that_of_the_command(sober, arguments, said):
    assert said in sober(*arguments).err
