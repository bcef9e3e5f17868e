"""A worker that has joined floods the coordinator with HTTP/2 frames: it is dropped, and the others are whole.

The short form of floods.py, which says how to run the long one.
"""
import concurrent.futures

import floods
import pytest

# The reason that the user reads. A flood that is not listed is refused for a frame, which no worker sends.
TOO_MANY_CALLS = "more than 64 calls over one connection"
BUDGETS = {
    "many_streams": TOO_MANY_CALLS,
    "rapid_reset": TOO_MANY_CALLS,
    **dict.fromkeys(("settings", "pings", "pings_unread", "ping_answers", "windows"), "more control frames of HTTP/2 than a worker needs"),
    **dict.fromkeys(("empty_messages", "pongs", "progress", "large_events"), "more than it was asked for"),
    "swollen_events": "an event that takes more than",
    "endless_message": "an event that is too large",
}
# Of two budgets, the machine decides which is used up first: while a slow one takes the large events, the worker whose
# connection is flooded calls again and again.
OTHER_BUDGETS = {"large_events": TOO_MANY_CALLS}
MAX_SECONDS = 100
AT_A_TIME = 4


@pytest.fixture(scope="session")
def floodings(request, tmp_path_factory):
    """The runs of all chosen floods, several at a time, because each waits most of its time."""
    kinds = [item.callspec.params["kind"] for item in request.session.items if item.module.__name__ == __name__]
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        yield {kind: pool.submit(floods.Flooded, tmp_path_factory.mktemp(kind), kind, MAX_SECONDS, True) for kind in kinds}


@pytest.mark.parametrize("kind", floods.KINDS)
def test_a_flood_costs_only_its_sender(kind, floodings):
    run = floodings[kind].result()
    assert run.outcome.code == 130 and run.whole_count == floods.HONEST, (run, run.outcome)
    budget = BUDGETS.get(kind, "which no worker sends")
    assert budget in run.reason or OTHER_BUDGETS.get(kind, budget) in run.reason, (run, run.outcome)
    assert run.peak_bytes < 500 << 20, run
