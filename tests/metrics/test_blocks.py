"""Blocks of work: in order whatever the threads, and an error of any thread reaches whoever called."""

import queue
import threading
import time

import pytest

from sobercv.metrics import blocks

PLACES = [(place,) for place in range(12)]


@pytest.mark.parametrize("n_threads", [1, 2, 5, 40])
def test_results_are_in_order_whoever_is_first(n_threads):
    def slow_at_first(place):
        time.sleep(0.002 * (12 - place))
        return place, threading.get_ident()

    found = blocks.run(slow_at_first, PLACES, n_threads)
    assert [place for place, _ in found] == list(range(12))
    assert len({thread for _, thread in found}) <= n_threads


def test_whoever_calls_works_too():
    found = blocks.run(lambda place: (time.sleep(0.01), threading.get_ident())[1], PLACES, 2)
    assert threading.get_ident() in found
    assert len(set(found)) == 2


@pytest.mark.parametrize("own", [True, False])
def test_an_error_of_any_thread_is_raised_and_ends_the_others(own):
    caller, begun = threading.get_ident(), []

    def fails(place):
        begun.append(place)
        time.sleep(0.01)
        if (threading.get_ident() == caller) == own:
            raise KeyError(place)

    before = threading.active_count()
    with pytest.raises(KeyError):
        blocks.run(fails, PLACES, 2)
    assert len(begun) < len(PLACES)
    assert threading.active_count() == before


def test_an_error_that_the_queue_knows_too_is_not_swallowed():
    def empty(place):
        raise queue.Empty

    with pytest.raises(queue.Empty):
        blocks.run(empty, PLACES, 2)
