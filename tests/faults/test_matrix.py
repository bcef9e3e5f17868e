"""Each fault costs what it must and nothing else: checks the exit code, report, leftovers, and the other workers' figures.

IOBENCH_UPDATE_GOLDEN=1 writes the table of outcomes into docs/faults.md; otherwise the test compares it with the file.
"""
import concurrent.futures
import os
import pathlib
import uuid

import fault_case
import pytest
import reruns
import schema
from fault_case import Case

DOCS = pathlib.Path(__file__).parents[2] / "docs" / "faults.md"
BEGIN, END = "<!-- table of tests/faults: begin -->\n", "<!-- table of tests/faults: end -->\n"
# Each run has 3 workers, which must answer within the times of fault_case.py although other runs share the machine.
AT_A_TIME = 4
FAULTS = ("worker killed", "worker stopped", "connection cut", "hung lane", "EIO", "ESTALE", "slow lane", "coordinator killed",
          "coordinator stopped", "results disk full")
LOST = ("worker killed", "worker stopped", "connection cut", "hung lane")


def possible(fault, transport):
    """Ranks on one host have no connection that could be cut."""
    return transport == "grpc" or fault != "connection cut"


CASES = [Case(fault, transport, operation) for fault in FAULTS for transport in ("grpc", "mpi")
         for operation in fault_case.OPERATIONS if possible(fault, transport)]
TWINS = [Case("nothing", transport, operation) for transport in ("grpc", "mpi") for operation in fault_case.OPERATIONS]


def ends_job(case):
    """mpirun ends all ranks when one dies."""
    return case.transport == "mpi" and case.fault in ("worker killed", "coordinator killed", "coordinator stopped")


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


def is_undisturbed(lane):
    """Whether the lane kept its pace. A machine with other work may lag behind."""
    asked = fault_case.PACE * fault_case.SECONDS
    return 0.6 * asked <= lane["ops"] <= 1.1 * asked


def row(fault, transport, outcomes):
    """One row of the table, for all three operations."""
    seen = [outcomes.take(Case(fault, transport, operation)) for operation in fault_case.OPERATIONS]

    def one(values):
        return " or ".join(dict.fromkeys(str(value) for value in values))

    # How far a rank gets after mpirun's SIGTERM depends on the load.
    unsteady = transport == "mpi" and fault.startswith("coordinator")
    saved = one("none" if outcome.saved_code is None else outcome.saved_code for outcome in seen)
    saved = "none, 3 or 130" if unsteady and fault == "coordinator stopped" else saved
    whole = one(len([phase for phase in outcome.result["phases"] if len(whole_lanes(phase)) == 3]) for outcome in seen)
    data = one("left, `clean` removes them" if outcome.data_left else "removed" for outcome in seen)
    return f"| {fault} | {transport} | {one(outcome.code for outcome in seen)} | {saved} | {whole} | {data} |\n"


def is_documented(text, fault_and_transport, outcomes):
    try:
        return row(*fault_and_transport, outcomes) in text
    except Exception:  # that of a run
        return False


# Not the last test: the plugin would tear the session down before a rerun of it, and all cases would run again.
def test_the_table_in_the_docs_is_what_happens(outcomes, request):
    rows = [(fault, transport) for fault in FAULTS for transport in ("grpc", "mpi") if possible(fault, transport)]
    text = DOCS.read_text()
    if reruns.attempt(request.node) > 1:
        outcomes.run([Case(*each, operation) for each in rows for operation in fault_case.OPERATIONS
                      if not is_documented(text, each, outcomes)])
    table = ("| fault | transport | exit code | saved exit code | repetitions of 3 that are whole | data |\n"
             "|---|---|---|---|---|---|\n")
    table += "".join(row(*each, outcomes) for each in rows)
    head, rest = text.split(BEGIN)
    before, tail = rest.split(END)
    if os.environ.get("IOBENCH_UPDATE_GOLDEN"):
        DOCS.write_text(head + BEGIN + table + END + tail)
    else:
        assert before == table


@pytest.mark.parametrize("case", TWINS, ids=lambda case: case.name)
def test_an_undisturbed_run_ends_well(case, outcomes):
    outcome = outcomes.take(case)
    assert outcome.code == outcome.saved_code == 0, outcome.stderr
    assert len(outcome.result["phases"]) == 3
    for phase in outcome.result["phases"]:
        assert len(whole_lanes(phase)) == 3 and all(map(is_undisturbed, whole_lanes(phase)))
    assert not outcome.data_left and not outcome.left_processes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fault_costs_what_it_must_and_nothing_else(case, outcomes):
    outcome = outcomes.take(case)
    assert outcome.left_processes == [], outcome.stderr
    assert outcome.clean_code == 0
    phases = outcome.result["phases"]
    assert phases, outcome.stderr
    # The phase that finished before the fault is whole on disk.
    first = whole_lanes(phases[0])
    assert len(first) == 3 and all(map(is_undisturbed, first))
    CHECKS[case.fault](case, outcome, phases)


def check_lost(case, outcome, phases):
    assert schema.problems(outcome.result) == []
    assert outcome.saved_code == 3, outcome.stderr
    struck = phases[1]
    assert struck["workers_lost"] == 1 and "partial" in {mark["code"] for mark in struck["marks"]}
    lost, = [worker for client in struck["clients"] for worker in client["workers"] if worker["lost"]]
    assert lost["lost_reason"]
    if case.operation != "metadata":
        assert lost["bytes"] > 0, "its last known bytes"
    if case.fault == "hung lane":
        assert "no progress for" in outcome.stderr and "lane " in lost["lost_reason"]
        assert "its ops" in lost["lost_reason"]
    if case.fault in ("worker stopped", "connection cut"):
        assert "has not answered for" in outcome.stderr
    if ends_job(case):
        return
    assert outcome.code == 3 and not outcome.data_left, outcome.stderr
    assert len(whole_lanes(struck)) == 2 and all(map(is_undisturbed, whole_lanes(struck)))
    assert len(whole_lanes(phases[2])) == 2 and all(map(is_undisturbed, whole_lanes(phases[2])))


def check_errors(case, outcome, phases):
    assert schema.problems(outcome.result) == []
    assert outcome.code == outcome.saved_code == 2, outcome.stderr
    struck = phases[1]
    errno = int(fault_case.ORDERS[case.fault])
    assert struck["lanes_failed"] == 1 and struck["workers_lost"] == 0
    assert {error["errno"] for error in struck["errors"]} == {errno}
    failed, = struck["failed_ops"]
    assert failed["error"] == case.fault and failed["count"] == failed["lanes"] == 1
    assert len(whole_lanes(struck)) == 2 and all(map(is_undisturbed, whole_lanes(struck)))
    assert not outcome.data_left


def check_slow(case, outcome, phases):
    assert outcome.code == outcome.saved_code == 0, outcome.stderr
    assert sum(map(is_undisturbed, whole_lanes(phases[1]))) >= 2 and len(whole_lanes(phases[2])) == 3
    assert not outcome.data_left


def check_coordinator(case, outcome, phases):
    if case.fault == "coordinator stopped" and case.transport == "mpi" and outcome.saved_code is not None:
        # mpirun wakes rank 0 before it kills it; this may give it enough time to save.
        assert outcome.saved_code in (3, 130), outcome.stderr
    elif case.fault == "coordinator killed" or case.transport == "mpi":
        # Finished phases are in the report, which says that the run did not finish.
        assert outcome.result["run"]["finished"] is False and outcome.result["run"]["exit_code"] is None
        assert outcome.saved_code is None
        assert len(phases) == 1
    else:  # the coordinator goes on alone
        assert outcome.code == outcome.saved_code == 3, outcome.stderr
    if case.transport == "grpc":
        assert "lost the coordinator" in outcome.stderr
    assert not outcome.data_left, "the workers that are left without a coordinator, or their janitors, remove the data"


def check_disk_full(case, outcome, phases):
    assert outcome.code == 2, outcome.stderr
    assert "No space left" in outcome.stderr or "ENOSPC" in outcome.stderr
    assert not outcome.data_left


CHECKS = {**{fault: check_lost for fault in LOST}, "EIO": check_errors, "ESTALE": check_errors, "slow lane": check_slow,
          "coordinator killed": check_coordinator, "coordinator stopped": check_coordinator,
          "results disk full": check_disk_full}
