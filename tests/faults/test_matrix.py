"""Each fault costs what it must and nothing else: checks the exit code, report, leftovers, and the other workers' figures.

Each fault strikes each transport with one of the loads; IOBENCH_ALL_LOADS=1 tests each with all. IOBENCH_UPDATE_GOLDEN=1
does that, too, and writes the table of outcomes into docs/faults.md; otherwise the tests compare their outcomes with it.
"""
import concurrent.futures
import os
import uuid

import fault_case
import pytest
import reruns
import schema
from fault_case import Case, LOADS
from fault_table import FAULTS, MATRIX, TRANSPORTS, possible

# Each run has 3 workers, which must answer within the times of fault_case.py although other runs share the machine.
AT_A_TIME = 4
LOST = ("worker killed", "worker stopped", "connection cut for good", "hung lane")
ALL_LOADS = bool(os.environ.get("IOBENCH_ALL_LOADS") or os.environ.get("IOBENCH_UPDATE_GOLDEN"))


def loads_for(fault, transport):
    """Every fault meets each load on some transport."""
    loads = list(LOADS)
    return loads if ALL_LOADS else [loads[(FAULTS.index(fault) + TRANSPORTS.index(transport)) % len(loads)]]


CASES = [Case(fault, transport, load) for fault in FAULTS for transport in TRANSPORTS if possible(fault, transport)
         for load in loads_for(fault, transport)]
TWINS = [Case("nothing", transport, load) for number, transport in enumerate(TRANSPORTS)
         for load in (LOADS if ALL_LOADS else [list(LOADS)[number]])]


def ends_job(case):
    """mpirun ends all ranks when one dies."""
    return case.transport == "mpi" and case.fault in ("worker killed", "coordinator killed")


class Outcomes:
    """The newest outcome of each case, or the error with which its run ended."""

    def __init__(self, shim, place):
        self.shim, self.place = shim, place
        self.of = {}

    def run(self, cases):
        """Runs the cases, again if need be, a few at a time."""
        def one(case):
            directory = self.place / f"{case.name}-{uuid.uuid4().hex[:8]}".replace(" ", "_")
            try:
                return fault_case.Runner(case, directory, self.shim).run()
            except Exception as error:
                return error

        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            self.of.update(zip([case.name for case in cases], pool.map(one, cases), strict=True))

    def take(self, case):
        outcome = self.of[case.name]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@pytest.fixture(scope="session")
def all_outcomes(shim, tmp_path_factory):
    outcomes = Outcomes(shim, tmp_path_factory.mktemp("faults"))
    outcomes.run([*TWINS, *CASES])
    return outcomes


@pytest.fixture
def outcomes(all_outcomes, request):
    """The Outcomes of all cases. Before a rerun of a test, its own case runs again."""
    if reruns.attempt(request.node) > 1 and "case" in request.fixturenames:
        all_outcomes.run([request.getfixturevalue("case")])
    return all_outcomes


def lanes_of(phase):
    return [lane for client in phase["clients"] for worker in client["workers"] for lane in worker["lanes"]]


def whole_lanes(phase):
    return [lane for lane in lanes_of(phase) if not lane["failed"] and not lane["sat_out"]]


def is_undisturbed(lane, case):
    """Whether the lane kept its pace. A machine with other work may lag behind."""
    asked = fault_case.PACE * case.seconds
    return 0.6 * asked <= lane["ops"] <= 1.1 * asked


def undisturbed(phase, case):
    return [lane for lane in whole_lanes(phase) if is_undisturbed(lane, case)]


def cell(fault, transport, outcomes):
    """What the table says of a fault, for all loads that were tested."""
    def one(outcome):
        whole = len([phase for phase in outcome.result["phases"] if len(whole_lanes(phase)) == fault_case.WORKERS])
        saved = "" if outcome.saved_code == outcome.code else f", saved {'none' if outcome.saved_code is None else outcome.saved_code}"
        return f"{outcome.code}{saved}; {whole} whole{'; data left' if outcome.data_left else ''}"

    return " or ".join(dict.fromkeys(one(outcomes.take(Case(fault, transport, load)))
                                     for load in loads_for(fault, transport)))


# Not the last test: the plugin would tear the session down before a rerun of it, and all cases would run again.
@pytest.mark.parametrize("fault", FAULTS)
def test_the_table_in_the_docs_is_what_happens(fault, outcomes, request):
    transports = [transport for transport in TRANSPORTS if possible(fault, transport)]
    if reruns.attempt(request.node) > 1:
        outcomes.run([Case(fault, transport, load) for transport in transports for load in loads_for(fault, transport)])
    MATRIX.check(fault, *(cell(fault, transport, outcomes) if transport in transports else "–" for transport in TRANSPORTS))


@pytest.mark.parametrize("case", TWINS, ids=lambda case: case.name)
def test_an_undisturbed_run_ends_well(case, outcomes):
    outcome = outcomes.take(case)
    assert outcome.code == outcome.saved_code == 0, outcome.stderr
    assert len(outcome.result["phases"]) == 3
    for phase in outcome.result["phases"]:
        assert len(whole_lanes(phase)) == len(undisturbed(phase, case)) == 3
    assert not outcome.data_left and not outcome.left_processes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fault_costs_what_it_must_and_nothing_else(case, outcomes):
    outcome = outcomes.take(case)
    assert outcome.left_processes == [], outcome.stderr
    assert outcome.clean_code == 0
    phases = outcome.result["phases"]
    assert phases, outcome.stderr
    # The phase that finished before the fault is whole on disk.
    assert len(whole_lanes(phases[0])) == len(undisturbed(phases[0], case)) == 3
    assert not outcome.data_left, outcome.stderr
    CHECKS[case.fault](case, outcome, phases)


def marks_of(phase):
    return {mark["code"] for mark in phase["marks"]}


def lost_workers(phase):
    return [worker for client in phase["clients"] for worker in client["workers"] if worker["lost"]]


def check_lost(case, outcome, phases):
    assert schema.problems(outcome.result) == []
    assert outcome.saved_code == 3, outcome.stderr
    struck = phases[1]
    assert struck["workers_lost"] == 1 and "partial" in marks_of(struck)
    lost, = lost_workers(struck)
    assert lost["lost_reason"]
    if case.load != "metadata":
        assert lost["bytes"] > 0, "its last known bytes"
    if case.fault == "hung lane":
        assert "no progress for" in outcome.stderr and "lane " in lost["lost_reason"]
        assert "its ops" in lost["lost_reason"]
    if case.fault in ("worker stopped", "connection cut for good"):
        assert "has not answered for" in outcome.stderr
    if ends_job(case):
        return
    assert outcome.code == 3, outcome.stderr
    for phase in phases[1:3]:
        assert len(whole_lanes(phase)) == len(undisturbed(phase, case)) == 2


def check_survived(case, outcome, phases):
    assert schema.problems(outcome.result) == []
    assert outcome.code == outcome.saved_code == 0, outcome.stderr
    assert [phase["workers_lost"] for phase in phases] == [0, 0, 0]
    # Rank 0 has a lane of its own, which stops with it.
    steady = 2 if case.transport == "mpi" and case.fault.startswith("coordinator") else 3
    assert len(undisturbed(phases[1], case)) >= steady and len(undisturbed(phases[2], case)) == 3
    assert len(whole_lanes(phases[1])) == 3
    stopped = case.fault.startswith("coordinator")
    assert ("this coordinator stood still for" in outcome.stderr) == stopped
    assert ("coordinator_stopped" in marks_of(phases[1])) == stopped


def check_errors(case, outcome, phases):
    assert schema.problems(outcome.result) == []
    assert outcome.code == outcome.saved_code == 2, outcome.stderr
    struck = phases[1]
    errno = int(fault_case.ORDERS[case.fault])
    assert struck["lanes_failed"] == 1 and struck["workers_lost"] == 0
    assert {error["errno"] for error in struck["errors"]} == {errno}
    failed, = struck["failed_ops"]
    assert failed["error"] == case.fault and failed["count"] == failed["lanes"] == 1
    assert len(whole_lanes(struck)) == len(undisturbed(struck, case)) == 2


def check_slow(case, outcome, phases):
    assert outcome.code == outcome.saved_code == 0, outcome.stderr
    assert len(undisturbed(phases[1], case)) >= 2 and len(whole_lanes(phases[2])) == 3


def check_killed_coordinator(case, outcome, phases):
    # Finished phases are in the report, which says that the run did not finish.
    assert outcome.result["run"]["finished"] is False and outcome.result["run"]["exit_code"] is None
    assert outcome.saved_code is None
    assert len(phases) == 1
    if case.transport == "tcp":
        assert "lost the coordinator" in outcome.stderr


def check_coordinator_left_alone(case, outcome, phases):
    """It says that it stood still, and that the workers left because of that."""
    assert schema.problems(outcome.result) == []
    assert outcome.code == outcome.saved_code == 3, outcome.stderr
    assert "this coordinator stood still for" in outcome.stderr
    assert "coordinator_stopped" in marks_of(phases[1])
    lost = lost_workers(phases[1])
    assert len(lost) == (2 if case.transport == "mpi" else 3), outcome.stderr
    for worker in lost:
        # Its own words, unless they were lost with its connection, which breaks when it ends.
        assert "--lease" in worker["lost_reason"], worker


def check_disk_full(case, outcome, phases):
    assert outcome.code == 2, outcome.stderr
    assert "No space left" in outcome.stderr or "ENOSPC" in outcome.stderr


CHECKS = {**{fault: check_lost for fault in LOST}, "EIO": check_errors, "ESTALE": check_errors, "slow lane": check_slow,
          "connection cut for a while": check_survived, "coordinator stopped for a while": check_survived,
          "coordinator killed": check_killed_coordinator, "coordinator stopped for good": check_coordinator_left_alone,
          "results disk full": check_disk_full}
assert set(CHECKS) == set(FAULTS)
