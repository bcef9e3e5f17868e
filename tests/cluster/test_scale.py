"""`selftest`: the tool's own costs, with simulated clients (--simulate) and with real workers."""
import re

import program
import pytest

PARTS = ("prepare", "clocks", "arm", "wait", "collect", "check", "analyse", "save")


def simulate(count, *words, phases=3, **variables):
    return program.plain("selftest", "--simulate", str(count), "--phases", str(phases), *words,
                         env=program.clean_environment(**variables))


def number_after(words, text):
    return float(re.search(rf"{words}\s+(?:median )?([\d.]+)", text)[1])


def check_costs(text):
    """All parts are there, none is negative, and none exceeds the whole."""
    line = re.search(r"its parts, medians +(.*) ms", text)[1]
    parts = dict(part.split() for part in line.split(", "))
    assert tuple(parts) == PARTS, text
    parts = {name: float(value) for name, value in parts.items()}
    assert all(value >= 0 for value in parts.values()), parts
    most = float(re.search(r"fixed cost of a phase .*max ([\d.]+) ms", text)[1])
    assert 0 < max(parts.values()) <= most, text
    assert number_after("coordinator", text) > 0, text


@pytest.mark.unsanitized
def test_three_hundred_simulated_clients_take_part_in_every_phase(tmp_path):
    outcome = simulate(300, TMPDIR=str(tmp_path)).expect(0)
    assert "300 simulated workers on 300 clients, 300 lanes, 3 empty phases" in outcome.stdout, outcome
    assert re.search(r"silent workers +0$", outcome.stdout, re.M), outcome
    assert outcome.stderr == "", "neither a worker nor the coordinator has anything to complain about"
    assert re.search(r"clocks +300 other than the coordinator's, known to median [\d.]+ us", outcome.stdout), outcome
    assert "start skew              not measured" in outcome.stdout, outcome
    check_costs(outcome.stdout)
    assert list(tmp_path.iterdir()) == [], "the results of the empty phases are removed"


@pytest.mark.unsanitized
def test_more_than_a_thousand_clients_have_clocks_and_results_without_pings_of_their_own(tmp_path):
    outcome = simulate(1100, TMPDIR=str(tmp_path)).expect(0)
    assert "1100 simulated workers on 1100 clients, 1100 lanes, 3 empty phases" in outcome.stdout, outcome
    assert re.search(r"silent workers +0$", outcome.stdout, re.M), outcome
    assert outcome.stderr == "", "no result was refused, and no worker was lost"
    assert re.search(r"clocks +1100 other than the coordinator's, known to median [\d.]+ us", outcome.stdout), outcome
    check_costs(outcome.stdout)


def test_simulated_clients_may_join_without_tls_and_have_many_lanes():
    outcome = simulate(3, "--insecure", "-t", "5", phases=2).expect(0)
    assert "3 simulated workers on 3 clients, 15 lanes, 2 empty phases" in outcome.stdout, outcome


def test_simulated_clients_are_not_for_other_workers():
    for words in (("--spawn", "2"), ("--listen", "127.0.0.1:0", "--workers", "2"), ("--hosts", "c1"), ("--transport", "local")):
        assert "--simulate starts its own clients" in simulate(2, *words).expect(1).stderr, words


def test_a_selftest_of_real_workers_shows_each_client_and_its_network():
    outcome = program.plain("selftest", "--spawn", "2", "--phases", "2").expect(0)
    assert "2 workers on 1 clients, 2 lanes, 2 empty phases" in outcome.stdout, outcome
    check_costs(outcome.stdout)
    assert re.search(r"start skew +median \d+ us, max \d+ us; \d+ starts for 2 phases", outcome.stdout), outcome
    assert re.search(r"tool per op +median [\d.]+ ns", outcome.stdout), outcome
    header, row = re.search(r"^  (per client .*)\n  (.*)$", outcome.stdout, re.M).groups()
    assert ("RTT us" in header and "to MiB/s" in header and "from MiB/s" in header and "clock offset us" in header), outcome
    round_trip, p99, to, from_it = map(float, row.split()[-4:])
    assert 0 < round_trip <= p99 and to > 0 and from_it > 0, outcome


def test_a_worker_with_simulated_lanes_refuses_a_run_on_files(path, out, tmp_path):
    socket = f"unix:{tmp_path}/socket"
    outcome = program.run(["-i", "0", "-+n", "-r", "4k", "-s", "4k", "--listen", socket, "--workers", "1"], path=path, out=out,
                          helpers=((program.BINARY, "worker", "--join", socket, "--root", "/", "--simulate", "1"),))
    assert outcome.code == 2 and "a simulated worker runs only phases of the null engine" in outcome.stderr, outcome
