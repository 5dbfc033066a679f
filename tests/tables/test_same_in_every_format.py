"""The same text in a CSV file, a workbook and a Parquet file has the same schema and the same values, or one refusal."""

import msgspec
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sobercv.errors import SoberError
from sobercv.tables import Settings, read

GAPS = ["", "NA", "N/A", "None", "nan", "NULL", "?", "k.A.", "  "]
COLUMNS = [
    ["1", "2", "30"], ["1.5", "-2", "1e3"], ["0,5", "1,25", "3"], ["1.234", "5.678"], ["1.234,5", "999,0"],
    ["007", "12", "7"], ["north", "south", "None"], ["TRUE", "FALSE"], ["true", "False"], ["01/02/2020", "03/04/2020"],
    ["31.12.2020", "1.2.2021"], ["<0.5", "0.7", "12"], ["Mild", "Severe", "None"], ["5.", " 7 ", "+3"], ["inf", "1"],
]  # fmt: skip


@st.composite
def tables(draw):
    n = draw(st.integers(3, 14))
    pools = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4))
    cells = [draw(st.lists(st.sampled_from(pool + draw(st.sampled_from([[], GAPS]))), min_size=n, max_size=n))
             for pool in pools]  # fmt: skip
    return pd.DataFrame({"key": [f"k{i}" for i in range(n)]} | {f"c{i}": column for i, column in enumerate(cells)})


def found(path, frame, kind, roles):
    path = path / f"d.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_parquet(path)
    try:
        table = read(path, roles)
    except SoberError as error:
        return error.code
    return msgspec.to_builtins(table.schema), table.frame.to_dict("list"), [note.text for note in table.notes]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), st.sampled_from(["feature", "target", "group"]))
def test_text_means_the_same_in_every_format(tmp_path_factory, frame, role):
    path = tmp_path_factory.mktemp("formats")
    roles = Settings(**({} if role == "feature" else {role: "c0"}))
    first = found(path, frame, "csv", roles)
    for kind in ("xlsx", "parquet"):
        other = found(path, frame, kind, roles)
        assert isinstance(first, str) is isinstance(other, str)
        if isinstance(first, str):
            assert first == other
        else:
            assert first[0] == other[0]
            assert first[2] == other[2]
            pd.testing.assert_frame_equal(pd.DataFrame(first[1]), pd.DataFrame(other[1]))
