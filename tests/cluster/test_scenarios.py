"""Every scenario gives the same ops and a consistent report on every transport."""
import program
import pytest
from scenarios import SCENARIOS, check_scenario

# The messages are the same protobuf everywhere; only their transport differs. test_grpc.py tries the addresses.
TRANSPORTS = ("in-process", "spawn", "join-tcp", program.MPI)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_scenario(transport, scenario, path, out, tmp_path):
    transports = program.Transports(tmp_path)
    prefix, options, helpers = transports.parts(transport)
    outcome = program.run([*scenario.options, *options], path=path, out=out, prefix=prefix, helpers=helpers)
    check_scenario(scenario, outcome, transports.workers(transport))
    assert not outcome.data.exists(), "the data are removed at the end"
