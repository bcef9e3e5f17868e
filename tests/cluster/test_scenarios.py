"""Every scenario on every transport: the same lanes do the same ops, and the report says so."""
import program
import pytest
from report_checks import check_csv, check_report, lanes_of
from scenarios import LANES, SCENARIOS

# The wire is the same protobuf everywhere; what differs is how it is carried. Addresses are tried in test_grpc.py.
TRANSPORTS = ("in-process", "spawn", "join-tcp", "mpi")


def may_end_short(phase):
    """A flushed stonewall stops lanes. New files are finished afterwards; those that were whole before are whole still."""
    return phase["stonewall"]["kind"] == "flushed" and phase["operation"] not in ("write", "pwrite")


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_scenario(transport, scenario, path, out, tmp_path):
    transports = program.Transports(tmp_path)
    prefix, options, helpers = transports.parts(transport)
    outcome = program.run([*scenario.options, *options], path=path, out=out, prefix=prefix, helpers=helpers).expect(0)
    result = outcome.result
    assert [phase["operation"] for phase in result["phases"]] == list(scenario.phases)
    check_report(result)
    check_csv(outcome)
    assert result["run"]["exit_code"] == 0 and result["run"]["worker_count"] == transports.workers(transport)
    for phase in result["phases"]:
        lanes = lanes_of(phase)
        assert sorted(lane["lane"] for lane in lanes) == list(range(LANES))
        assert not phase["errors"]
        if may_end_short(phase):
            assert max(lane["ops"] for lane in lanes) == scenario.ops_per_lane, "the first lane did all"
        elif scenario.ops_per_lane is not None:
            assert {lane["ops"] for lane in lanes} == {scenario.ops_per_lane}, phase["name"]
            assert {lane["bytes"] for lane in lanes} == {256 << 10}, phase["name"]
    scenario.check(outcome)
    assert not outcome.data.exists(), "the data are removed at the end"
