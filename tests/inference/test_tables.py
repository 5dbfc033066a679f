"""Tables of predictions: the same answer in memory and in blocks, whatever holds them and however they are cut."""

import tracemalloc

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

import sobercv
from sobercv import sources
from sobercv.errors import SoberError
from sobercv.inference import Question, resample
from sobercv.inference.resample import Bootstrap
from sobercv.inference.tables import Inputs, bins, columns, opening
from sobercv.inference.tables import rows as by_rows
from sobercv.metrics import blocks, names
from sobercv.metrics import get as get_metric

N, C = 140_000, 5  # two whole blocks and a part of one
RNG = np.random.default_rng(91)
Y = RNG.integers(0, 2, N)
P = np.round(np.clip(0.1 * Y[:, None] + 0.9 * RNG.random((N, C)), 0, 1), 3)
L = (P > 0.5).astype(np.uint8)
T = RNG.normal(size=N)
G = T[:, None] + RNG.normal(size=(N, C)) * np.linspace(1.0, 1.01, C)
W = RNG.random(N)
GROUPS = RNG.permutation(np.arange(N) // 2)
OPTIONS = {"n_bootstraps": 70, "random_state": 3}


def assert_same(ours, theirs, exact=True):
    """Every public number; bit for bit, or to 1e-12 where sums round."""
    close = {"rtol": 0, "atol": 0} if exact else {"rtol": 1e-12, "atol": 1e-12}
    for name in ("draws", "value", "naive", "interval", "scores"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), **close, err_msg=name)
    for name in (
        "winner",
        "n_undefined",
        "n_samples",
        "n_groups",
        "n_configurations",
        "metric",
        "method",
        "seed",
        "notes",
    ):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.win_counts.tolist() == theirs.win_counts.tolist()


# ---- containers -----------------------------------------------------------------------------------------------------
def memory_map(p, where, order="C"):
    out = np.lib.format.open_memmap(where / "p.npy", "w+", p.dtype, p.shape, fortran_order=order == "F")
    out[:] = p
    out.flush()
    return sobercv.stream(np.load(where / "p.npy", mmap_mode="r"))


def zarr_array(p, where, chunks):
    out = zarr.create_array(store=str(where / "p.zarr"), shape=p.shape, dtype=p.dtype, chunks=chunks)
    out[:] = p
    return zarr.open_array(str(where / "p.zarr"), mode="r")


def parquet(p, where, cut=(), group=50_000):
    for k, part in enumerate(np.split(p, cut)):
        table = pa.table({f"c{j}": part[:, j] for j in range(p.shape[1])})
        pq.write_table(table, where / f"part-{k}.parquet", row_group_size=group)
    return where if cut else where / "part-0.parquet"


CONTAINERS = {
    "memory map": memory_map,
    "memory map by columns": lambda p, where: memory_map(p, where, "F"),
    "zarr, small chunks": lambda p, where: zarr_array(p, where, (1_000, 2)),
    "zarr, a chunk beyond a block": lambda p, where: zarr_array(p, where, (100_000, 5)),
    "zarr by columns": lambda p, where: zarr_array(p, where, (140_000, 1)),
    "parquet": parquet,
    "parquet, one row group": lambda p, where: str(parquet(p, where, group=N)),
    "parquet, a folder": lambda p, where: parquet(p, where, (30_000, 30_001, 99_999)),
    "parquet, a dataset": lambda p, where: pyarrow.dataset.dataset(parquet(p, where, (70_000,))),
    "parquet, an open file": lambda p, where: pq.ParquetFile(parquet(p, where)),
    "dask, one chunk": lambda p, where: da.from_array(p, chunks=-1),
    "dask, odd chunks": lambda p, where: da.from_array(p, chunks=(33_333, 2)),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_container_changes_nothing(container, tmp_path):
    source = CONTAINERS[container](L, tmp_path)
    assert_same(sobercv.bbc(Y, source, "accuracy", **OPTIONS), sobercv.bbc(Y, L, "accuracy", **OPTIONS))


@pytest.mark.parametrize("container", ["zarr, small chunks", "parquet, a folder", "dask, odd chunks"])
def test_the_container_changes_nothing_where_sums_round(container, tmp_path):
    source = CONTAINERS[container](P, tmp_path)
    for metric in ("neg_log_loss", "neg_brier_score"):
        ours, theirs = (sobercv.bbc(Y, p, metric, **OPTIONS) for p in (source, P))
        assert_same(ours, theirs, exact=False)
        assert_same(ours, sobercv.bbc(Y, sobercv.stream(P), metric, **OPTIONS), exact="dask" not in container)


@pytest.mark.parametrize("container", ["memory map", "zarr by columns", "parquet, a folder", "dask, odd chunks"])
def test_ranks_by_columns_whatever_the_container(container, tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "_BYTES", 40 * 3_000 * 2)  # two configurations at a time
    source = (
        CONTAINERS[container](P[:3_000], tmp_path) if "folder" not in container else parquet(P[:3_000], tmp_path, (7,))
    )
    assert_same(
        sobercv.bbc(Y[:3_000], source, "roc_auc", **OPTIONS), sobercv.bbc(Y[:3_000], P[:3_000], "roc_auc", **OPTIONS)
    )


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_the_number_of_jobs_changes_no_bit(n_jobs):
    runs = [sobercv.bbc(T, sobercv.stream(G), "neg_mean_squared_error", **OPTIONS, n_jobs=n) for n in (None, n_jobs)]
    assert_same(*runs)
    runs = [sobercv.bbc(Y, P, "roc_auc", **OPTIONS, n_jobs=n, approximate=64) for n in (None, n_jobs)]
    assert_same(*runs)


# ---- what can be asked for ------------------------------------------------------------------------------------------
CASES = {
    "labels": (Y, L, "accuracy", {}, True),
    "labels of three classes": (Y + (T > 1), (L + (G > 1)).astype(np.int16), "accuracy", {}, True),
    "labels as text": (np.array(["no", "yes"])[Y], np.array(["no", "yes"])[L], "accuracy", {}, True),
    "labels off probabilities": (Y, P, "accuracy", {}, True),
    "probabilities of text": (np.array(["no", "yes"])[Y], P, "accuracy", {}, True),
    "named response": (Y, {"predict_proba": P}, "neg_log_loss", {}, False),
    "float32": (Y, P.astype(np.float32), "neg_log_loss", {}, False),
    "a link": (T, G, "neg_root_mean_squared_error", {}, False),
    "another loss": (T, G, "neg_mean_absolute_error", {}, False),
    "stratified": (Y, L, "accuracy", {"stratify": True}, True),
    "groups": (Y, L, "accuracy", {"groups": GROUPS}, True),
    "groups in strata": (Y, L, "accuracy", {"groups": GROUPS, "stratify": True}, True),
    "weights": (Y, L, "accuracy", {"sample_weight": W}, False),
    "one standard error": (Y, L, "accuracy", {"select": sobercv.simplest_within(standard_errors=1)}, True),
    "a tolerance": (Y, L, "accuracy", {"select": sobercv.simplest_within(tolerance=0.001)}, True),
    "a rule of one's own": (Y, L, "accuracy", {"select": lambda scores: scores.argmin(axis=1)}, True),
    "632+": (Y, L, "accuracy", {"method": "632+"}, True),
    "another level": (Y, L, "accuracy", {"confidence_level": 0.8}, True),
}


def streamed(p):
    return {name: sobercv.stream(v) for name, v in p.items()} if isinstance(p, dict) else sobercv.stream(p)


@pytest.mark.parametrize("case", CASES)
def test_as_in_memory(case):
    y, p, metric, options, exact = CASES[case]
    assert_same(
        sobercv.bbc(y, streamed(p), metric, **OPTIONS, **options),
        sobercv.bbc(y, p, metric, **OPTIONS, **options),
        exact,
    )


def test_several_metrics_at_one_winner():
    many = ["neg_log_loss", "accuracy", "neg_brier_score"]
    ours, theirs = (sobercv.bbc(Y, p, many, **OPTIONS) for p in (sobercv.stream(P), P))
    assert list(ours) == many
    for name in many:
        assert_same(ours[name], theirs[name], exact=False)


@pytest.mark.parametrize("held", [1, 1 << 29], ids=["64 at a time", "all at a time"])
def test_more_configurations_than_are_multiplied_together(held, monkeypatch):
    n, options = 70_000, {"n_bootstraps": 20, "random_state": 0}
    p = np.random.default_rng(1).random((n, 150), dtype=np.float32)
    apart = sobercv.bbc(T[:n], sobercv.stream(p), "neg_mean_squared_error", **options)
    monkeypatch.setattr(by_rows, "_BYTES", held)
    together = sobercv.bbc(T[:n], sobercv.stream(p), "neg_mean_squared_error", **options)
    assert_same(together, apart)  # to the last bit: what is multiplied together stays the same
    assert_same(together, sobercv.bbc(T[:n], p, "neg_mean_squared_error", **options), exact=False)


LINEAR = [name for name in names() if get_metric(name).linear]
FEW = 400


@pytest.mark.parametrize("metric", [n for n in names() if get_metric(n).min_classes < 3 and get_metric(n).selects])
def test_every_metric_in_blocks(metric, monkeypatch):
    """Small, so that all can be asked; undefined draws are the same ones as well."""
    monkeypatch.setattr(columns, "_BYTES", 40 * FEW * 2)
    found = get_metric(metric)
    if found.task == "survival":
        y, p = np.column_stack([Y[:FEW], 1 + W[:FEW]]), G[:FEW]
    elif found.task == "regression":
        y, p = np.exp(T[:FEW]), np.exp(G[:FEW])
    else:
        y, p = Y[:FEW], L[:FEW] if found.responses[0] == "predict" else P[:FEW]
    assert_same(sobercv.bbc(y, sobercv.stream(p), metric, **OPTIONS), sobercv.bbc(y, p, metric, **OPTIONS), exact=False)


@pytest.mark.parametrize(
    "options",
    [{"aggregate": "fold"}, {"within_folds": True}, {"stratify": True}, {"sample_weight": W[:FEW]}],
    ids=lambda o: next(iter(o)),
)
def test_options_of_metrics_that_rank(options):
    folds = np.arange(FEW) % 4
    runs = [
        sobercv.bbc(Y[:FEW], p, "roc_auc", folds=folds, **OPTIONS, **options)
        for p in (sobercv.stream(P[:FEW]), P[:FEW])
    ]
    assert_same(*runs, exact=False)


def test_scales_are_checked_in_blocks_too():
    folds = np.arange(FEW) % 4
    p = P[:FEW] + 10.0 * folds[:, None]
    with pytest.warns(sobercv.SoberWarning, match="W203"):
        estimate = sobercv.bbc(Y[:FEW], sobercv.stream(p), "roc_auc", folds=folds, **OPTIONS)
    assert any("level between folds" in note.text for note in estimate.notes)


def test_one_configuration_warns_in_blocks_too():
    with pytest.warns(sobercv.SoberWarning, match="W202"):
        sobercv.bbc(Y, sobercv.stream(L[:, :1]), "accuracy", **OPTIONS)


# ---- against the paper's loop ---------------------------------------------------------------------------------------
def test_the_loop_of_the_paper():
    """Algorithm 5 as a loop over resamples, in which every row is repeated as often as it was drawn."""
    counts = Bootstrap(N, 5).counts(0, 6)
    draws, wins = [], []
    for row in counts:
        drawn = np.repeat(np.arange(N), row)
        inside = [np.mean(L[drawn, c] == Y[drawn]) for c in range(C)]
        wins.append(int(np.argmax(inside)))
        out = row == 0
        draws.append(np.mean(L[out, wins[-1]] == Y[out]))
    estimate = sobercv.bbc(Y, sobercv.stream(L), "accuracy", n_bootstraps=6, random_state=5)
    np.testing.assert_array_equal(estimate.draws, draws)
    assert estimate.win_counts.tolist() == np.bincount(wins, minlength=C).tolist()
    np.testing.assert_array_equal(estimate.scores, (Y[:, None] == L).mean(axis=0))


@settings(max_examples=25)
@given(
    n=st.sampled_from([3, 900, 65_536, 65_537, 131_073]),
    seed=st.integers(0, 2**32),
    grouped=st.booleans(),
    layers=st.integers(1, 3),
    cut=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_counts_of_any_range_of_rows_can_be_drawn_alone(n, seed, grouped, layers, cut):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, max(1, n // 2), n) if grouped else None
    strata = rng.integers(0, layers, n) if layers > 1 else None
    bootstrap = Bootstrap(n, seed, groups=groups, strata=strata)
    start, stop = sorted(int(share * n) for share in cut)
    stop = max(stop, start + 1) if start < n else n
    start = min(start, n - 1)
    part = bootstrap.by_rows(4).block(start, stop)
    np.testing.assert_array_equal(part.counts(1, 4), bootstrap.counts(1, 4)[:, start:stop])


# ---- Parquet columns ------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "oof.parquet"
    table = {"truth": np.array(["no", "yes"])[Y], "patient": GROUPS, "weight": W}
    table |= {f"c{j}": np.array(["no", "yes"])[L[:, j]] for j in range(C)}
    pq.write_table(pa.table(table), path, row_group_size=40_000)
    return path


def test_columns_by_name(file):
    options = OPTIONS | {"n_bootstraps": 20}
    ours = sobercv.bbc("truth", file, "accuracy", groups="patient", sample_weight="weight", **options)
    assert_same(ours, sobercv.bbc(Y, L, "accuracy", groups=GROUPS, sample_weight=W, **options), exact=False)


def test_columns_that_are_predictions(file):
    ours = sobercv.bbc("truth", sobercv.stream(file, columns=["c3", "c1"]), "accuracy", **OPTIONS)
    assert_same(ours, sobercv.bbc(Y, L[:, [3, 1]], "accuracy", **OPTIONS))


def test_truth_may_live_elsewhere_too(tmp_path):
    reference = sobercv.bbc(Y, L, "accuracy", **OPTIONS)
    for y in (
        zarr_array(Y[:, None], tmp_path, (999, 1))[:, 0],
        da.from_array(Y, chunks=1000),
        memory_map(Y[:, None], tmp_path)._array[:, 0],
    ):
        assert_same(sobercv.bbc(y, sobercv.stream(L), "accuracy", **OPTIONS), reference)


# ---- memory ---------------------------------------------------------------------------------------------------------
def test_the_blocks_of_all_rooms_are_the_same():
    assert sources.ROWS == blocks.ROWS == resample.CHUNK


def test_a_small_memory_map_stays_an_array(tmp_path, monkeypatch):
    table = memory_map(L, tmp_path)._array
    assert sources.recognise(table) is None
    monkeypatch.setattr(sources.memory_map, "LARGE", table.nbytes - 1)
    assert sources.recognise(table) is not None
    assert sources.recognise(np.asarray(L)) is None


def test_memory_does_not_grow_with_the_table(tmp_path):
    peaks = []
    for n in (200_000, 800_000):
        table = np.lib.format.open_memmap(tmp_path / f"{n}.npy", "w+", np.uint8, (n, 20))
        y = np.zeros(n, np.int8)
        y[::3] = 1
        sobercv.bbc(y, sobercv.stream(table), "accuracy", n_bootstraps=2, random_state=0)
        tracemalloc.start()
        sobercv.bbc(y, sobercv.stream(table), "accuracy", n_bootstraps=2, random_state=0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 16 * 600_000  # a few bytes a sample for the truth; the table would be 20


# ---- the approximate AUC --------------------------------------------------------------------------------------------
def bin_table(y, p, **options):
    question = Question.ask("roc_auc", **{"n_bootstraps": 70, "random_state": 3, **options})
    return bins.BinTable(sobercv.stream(p), "", Inputs(None, y, approximate=True), question)


SHAPES = {
    "even": lambda rng, y, c: rng.normal(size=(len(y), c)) + 0.5 * y[:, None],
    "tied": lambda rng, y, c: rng.integers(0, 7, (len(y), c)) + y[:, None] * 1.0,
    "constant": lambda rng, y, c: np.ones((len(y), c)),
    "far out": lambda rng, y, c: np.exp(30 * rng.random((len(y), c))) * (1 + y[:, None]),
    "sorted": lambda rng, y, c: np.sort(rng.random((len(y), c)), axis=0),
    "perfect": lambda rng, y, c: rng.random((len(y), c)) + y[:, None],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_bins", [2, 16, 256])
def test_the_error_of_histograms_is_bounded(shape, n_bins):
    """For every resample and configuration, in bag, out of bag and on all samples."""
    rng = np.random.default_rng(0)
    n = 90_000
    y = (rng.random(n) < 0.2).astype(int)
    p = SHAPES[shape](rng, y, 3)
    found = bins.histogram_auc(bin_table(y, p, n_bootstraps=3), n_bins)
    table = sobercv.Predictions.build(y, p, task="classification", responses=("decision_function",))
    counts = Bootstrap(n, 3).counts(0, 3)
    metric = get_metric("roc_auc")
    for (ours, bound), rows in (
        (found.present, counts),
        (found.absent, (counts == 0)),
        (found.whole[:, None], np.ones((1, n), int)),
    ):
        exact = metric.scores(table, rows)
        assert (np.abs(ours - exact) <= bound + 1e-12).all()
        if shape == "even":  # bins of equal size: pairs meet in one bin about once in n_bins
            assert (bound < 0.6 / n_bins).all()
            assert (np.abs(ours - exact) < 0.1 / n_bins).all()
        if shape in ("tied", "constant"):  # every value has a bin of its own, if there are enough
            assert n_bins < 8 or np.allclose(ours, exact, atol=1e-12)


@settings(max_examples=60)
@given(n=st.integers(4, 60), seed=st.integers(0, 2**32), n_bins=st.integers(2, 40), grid=st.integers(1, 30))
def test_the_bound_is_a_law(n, seed, n_bins, grid):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    p = np.round(rng.random((n, 4)) * grid) / grid
    found = bins.histogram_auc(bin_table(y, p, n_bootstraps=9, random_state=seed), n_bins)
    table = sobercv.Predictions.build(y, p, task="classification", responses=("predict_proba",))
    counts = Bootstrap(n, seed).counts(0, 9)
    for (ours, bound), rows in ((found.present, counts), (found.absent, (counts == 0))):
        exact = get_metric("roc_auc").scores(table, rows)
        np.testing.assert_array_equal(np.isnan(ours), np.isnan(exact))
        assert (np.abs(ours - exact) <= bound + 1e-12)[~np.isnan(exact)].all()


def test_an_approximate_estimate_says_so(tmp_path):
    exact = sobercv.bbc(Y, P, "roc_auc", **OPTIONS)
    runs = [sobercv.bbc(Y, p, "roc_auc", **OPTIONS, approximate=True) for p in (P, zarr_array(P, tmp_path, (999, 2)))]
    assert_same(*runs)
    note = runs[0].notes[-1].text
    assert "512 bins" in note
    bound = float(note.split("each draw lies within ")[1].split(" ")[0])
    assert bound < 0.001
    assert abs(runs[0].value - exact.value) < bound
    assert np.abs(runs[0].draws - exact.draws).max() <= bound  # P is rounded: with the same winners
    stratified = sobercv.bbc(Y, P, "roc_auc", **OPTIONS, approximate=64, stratify=True, groups=GROUPS)
    assert stratified.n_groups == N // 2


def test_histograms_of_more_configurations_than_fit(monkeypatch):
    whole = sobercv.bbc(Y, P, "roc_auc", **OPTIONS, approximate=16)
    monkeypatch.setattr(bins, "_BYTES", 1)
    assert_same(sobercv.bbc(Y, P, "roc_auc", **OPTIONS, approximate=16), whole)


# ---- refusals -------------------------------------------------------------------------------------------------------
def spoiled(array, value, at=(100_000, 2)):
    out = array.astype(object if isinstance(value, str) else float)
    out[at] = value
    return sobercv.stream(out)


def bbc(y, p, metric, **options):
    return lambda: sobercv.bbc(y, p, metric, **OPTIONS, **options)


S, SL, SG = sobercv.stream(P), sobercv.stream(L), sobercv.stream(G)
COUNTS = np.ones((3, N), np.uint8)
BAD = [
    ("NaN in the second block", bbc(Y, spoiled(P, np.nan), "neg_log_loss"), "E102", r"65,536 to 131,071.*1 value"),
    ("infinite", bbc(T, spoiled(G, np.inf), "neg_mean_squared_error"), "E102", r"1 value"),
    ("NaN for an approximate AUC", bbc(Y, spoiled(P, np.nan), "roc_auc", approximate=True), "E102", r"1 value"),
    ("NaN for an exact AUC", bbc(Y, spoiled(P, np.nan), "roc_auc"), "E102", r"1 value"),
    ("text for numbers", bbc(T, spoiled(G, "high"), "neg_mean_squared_error"), "E102", r"high"),
    ("no probability", bbc(Y, spoiled(P, 1.5), "neg_log_loss"), "E104", r"1\.5"),
    ("no label", bbc(Y, spoiled(L, 7), "accuracy"), "E110", r"labels"),
    (
        "labels here, probabilities there",
        bbc(Y + 1, spoiled(np.ones((N, 2)), 0.5, (0, 0)), "accuracy"),
        "E110",
        r"predict_proba",
    ),
    ("one row too few", bbc(Y[:-1], SL, "accuracy"), "E101", r"140000.*139999"),
    ("transposed", bbc(Y, sobercv.stream(L[:9].T), "accuracy"), "E101", r"rows"),
    ("no truth", bbc(None, SL, "accuracy"), "E101", r"y"),
    ("missing truth", bbc(np.where(Y, 1.0, np.nan), SL, "accuracy"), "E112", r"missing"),
    ("infinite truth", bbc(np.where(Y, 1.0, np.inf), SG, "neg_mean_squared_error"), "E112", r"infinite"),
    ("one class", bbc(np.zeros(N), S, "roc_auc"), "E103", r"2"),
    ("too few samples", bbc(Y[:2], sobercv.stream(L[:2]), "accuracy"), "E106", r"2"),
    ("groups too short", bbc(Y, SL, "accuracy", groups=[1, 2]), "E107", r"140000"),
    ("negative weights", bbc(Y, SL, "accuracy", sample_weight=-W), "E107", r"negative"),
    ("no metric", bbc(Y, SL, []), "E105", r"metric"),
    ("folds of a histogram", bbc(Y, S, "roc_auc", by="fold", folds=Y, approximate=True), "E118", r"by="),
    ("folds that tear groups", bbc(Y, SL, "accuracy", by="fold", folds=Y, groups=GROUPS), "E114", r"groups"),
    ("a mask", bbc(Y, SL, "accuracy", seen=Y == 1), "E118", r"seen"),
    ("draws of too few samples", bbc(Y, SL, "accuracy", counts=COUNTS[:, 1:]), "E101", r"counts"),
    ("plain CV in blocks", lambda: sobercv.naive(Y, SL, "accuracy"), "E118", r"naive"),
    ("repeats", lambda: sobercv.stream(P[:, :, None]), "E118", r"3 axes"),
    ("two responses", bbc(Y, {"predict": SL, "predict_proba": S}, "accuracy"), "E118", r"one response"),
    ("probabilities of three classes", bbc(Y + (T > 1), S, "neg_log_loss"), "E118", r"3 classes"),
    ("a column of no file", bbc("truth", SL, "accuracy"), "E118", r"Parquet"),
    ("no table at all", lambda: sobercv.stream(3), "E118", r"int"),
    ("another kind of file", bbc(Y, "oof.csv", "accuracy"), "E118", r"parquet"),
    ("no such file", bbc(Y, "oof.parquet", "accuracy"), "E801", r"no file"),
    ("an aggregate that is none", bbc(Y, SL, "accuracy", aggregate="mean"), "E108", r"aggregate"),
    ("stratified numbers", bbc(T, SG, "neg_mean_squared_error", stratify=True), "E114", r"stratify"),
    ("columns of an array", lambda: sobercv.stream(L, columns=["a"]), "E114", r"columns"),
    ("an approximate mean", bbc(Y, SL, "accuracy", approximate=True), "E114", r"roc_auc"),
    ("no number of bins", bbc(Y, S, "roc_auc", approximate=1), "E108", r"16384"),
    ("approximate weights", bbc(Y, S, "roc_auc", approximate=True, sample_weight=W), "E118", r"sample_weight"),
    ("folds are needed", bbc(Y, S, "roc_auc", within_folds=True), "E113", r"folds"),
]


@pytest.mark.parametrize(("call", "code", "says"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_refusals(call, code, says):
    with pytest.raises(SoberError, match=says) as caught:
        call()
    assert caught.value.code == code
    assert len(caught.value.message) < 400


def test_a_file_that_is_no_parquet(tmp_path):
    (tmp_path / "a.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(SoberError, match="E801"):
        sobercv.bbc("a", tmp_path / "a.parquet", "accuracy")


def test_missing_predictions_in_parquet(tmp_path):
    table = pa.table({"y": [0, 1] * 5, "a": [0, 1, None, 0, 1] * 2, "b": [0] * 10})
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(SoberError, match=r"'a' lacks 2.*E102"):
        sobercv.bbc("y", tmp_path / "a.parquet", "accuracy")
    with pytest.raises(SoberError, match=r"no column 'z'.*E804"):
        sobercv.bbc("z", tmp_path / "a.parquet", "accuracy")
    with pytest.raises(SoberError, match=r"no column 'z'.*E804"):
        sobercv.stream(tmp_path / "a.parquet", columns=["z"])


def test_an_exact_auc_that_does_not_fit_names_the_other(monkeypatch):
    monkeypatch.setattr(columns, "_memory", lambda: 1 << 20)
    with pytest.raises(SoberError, match=r"approximate=True.*E119"):
        sobercv.bbc(Y, S, "roc_auc", **OPTIONS)
    assert sobercv.bbc(Y, S, "roc_auc", **OPTIONS, approximate=True).n_samples == N


def test_dask_without_sizes():
    array = da.from_array(P, chunks=1000)
    with pytest.raises(SoberError, match="compute_chunk_sizes"):
        sobercv.bbc(Y, array[array[:, 0] > 0.5], "accuracy")


def test_means_are_read_by_rows_and_ranks_by_columns():
    def kind(metric, p=P, **options):
        inputs = Inputs(sobercv.stream(p[:FEW]), Y[:FEW], approximate=options.pop("approximate", False))
        return type(opening.open_table(inputs, Question.ask(metric, **options))).__name__

    assert kind("accuracy", L) == "RowTable"
    assert kind("roc_auc") == "ColumnTable"
    assert kind("roc_auc", approximate=True) == "BinTable"
    assert kind(["neg_log_loss", "roc_auc"]) == "ColumnTable"


# ---- what was once for tables in memory alone -----------------------------------------------------------------------
FOLDS = np.arange(N) % 7
DRAWN = np.random.default_rng(5).multinomial(N, np.full(N, 1 / N), 9)


@pytest.mark.parametrize(
    ("metric", "y", "p", "exact"),
    [("accuracy", Y, L, True), ("neg_mean_squared_error", T, G, False), ("roc_auc", Y, P, True)],
    ids=["labels", "numbers", "ranks"],
)
@pytest.mark.parametrize("shape", ["small", "large"])
def test_draws_of_another_tool_are_replayed(metric, y, p, exact, shape):
    counts = DRAWN if shape == "small" else DRAWN * 300  # beyond a byte
    runs = [sobercv.bbc(y, t, metric, counts=counts, random_state=1) for t in (sobercv.stream(p), p)]
    assert_same(*runs, exact=exact)
    assert len(runs[0].draws) == len(counts)


def test_draws_of_another_tool_are_replayed_by_histograms():
    ours, exact = (sobercv.bbc(Y, P, "roc_auc", counts=DRAWN, approximate=a, n_jobs=2) for a in (True, False))
    assert np.abs(ours.draws - exact.draws).max() < 0.001


@pytest.mark.parametrize("metric", [["accuracy", "neg_log_loss"], ["roc_auc"]], ids=["means", "ranks"])
@pytest.mark.parametrize("select", ["best", "simplest_within"])
@pytest.mark.parametrize(
    "counts", [None, np.array([[2, 1, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 7]])], ids=["drawn", "given"]
)
def test_folds_are_resampled_in_blocks_too(metric, select, counts):
    n = 3_500
    options = {"by": "fold", "folds": FOLDS[:n], "select": select, "counts": counts, **OPTIONS}
    ours, theirs = (sobercv.bbc(Y[:n], p, metric, **options) for p in (sobercv.stream(P[:n]), P[:n]))
    for name in metric:
        assert ours[name].method == "bbc-f"
        assert_same(ours[name], theirs[name], exact=False)
