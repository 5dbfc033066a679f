import numpy as np

from sobercv.training.run import packing
from sobercv.training.run.packing import pack, unpack


def test_small_things_do_not_hold_on_to_shared_memory(monkeypatch):
    X = np.arange(20_000.0)
    for limit, shared in ((packing.COPIED, False), (0, True)):
        monkeypatch.setattr(packing, "COPIED", limit)
        packed = pack({"X": X})
        assert len(packed.arrays) == 2  # the pickle, and X outside of it
        opened = unpack(packed.token, packed.arrays)["X"]
        np.testing.assert_array_equal(opened, X)
        assert np.shares_memory(opened, packed.arrays[1]) == shared
        assert unpack(packed.token, ())["X"] is opened  # opened once
