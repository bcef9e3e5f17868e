"""--per-client lets each client, or each worker of a single client, do each phase alone before all do it together."""
import json

import program
import pytest
from report_checks import check_csv, check_report

SHAPE = ("-r", "4k", "-s", "256k")


def run(*args, path, out, transport=((), ("--spawn", "2"))):
    prefix, options = transport
    return program.run([*args, *options, "--per-client"], path=path, out=out, prefix=prefix)


def names(outcome):
    return [phase["name"] for phase in outcome.phases]


@pytest.fixture(params=["spawn", program.MPI])
def transport(request, tmp_path):
    prefix, options, _ = program.Transports(tmp_path).parts(request.param)
    return prefix, options


def test_each_alone_then_all_with_a_table(transport, path, out):
    outcome = run("-i", "0", "-i", "1", "-+n", "--verify", *SHAPE, path=path, out=out, transport=transport).expect(0)
    check_report(outcome.result)
    check_csv(outcome)
    phases = outcome.phases
    clients = outcome.result["per_client"]
    assert [each["phase"] for each in clients] == ["write", "read"]
    workers = [row["client"] for row in clients[0]["clients"]]
    assert len(workers) > 1 and len(set(workers)) == len(workers)
    assert names(outcome) == [name for phase in ("write", "read")
                              for name in (*(f"{phase} on {worker}" for worker in workers), phase)]
    by_name = {phase["name"]: phase for phase in phases}
    for each in clients:
        for row in each["clients"]:
            alone = by_name[f"{each['phase']} on {row['client']}"]
            assert row["alone"] == pytest.approx(alone["headline"]["bytes_per_s"])
            assert alone["lane_count"] * len(workers) == by_name[each["phase"]]["lane_count"]
            assert sum(len(client["workers"]) for client in alone["clients"]) == 1
        assert each["sum_alone"] == pytest.approx(sum(row["alone"] for row in each["clients"]))
        assert each["together"] == pytest.approx(by_name[each["phase"]]["headline"]["bytes_per_s"])
        assert each["scaling"] == pytest.approx(each["together"] / each["sum_alone"])
    assert "each client alone, then all together" in outcome.stdout and " of the sum of each alone" in outcome.stdout
    assert all(phase["verify"]["mismatched"] == 0 for phase in phases if phase["operation"] == "read")


def test_the_report_is_the_same_when_it_is_computed_again(path, out):
    outcome = run("--op", "write,stat", "--items", "20", "--repeat", "2", *SHAPE, path=path, out=out).expect(0)
    again = json.loads(program.plain("report", out, "--format", "json").expect(0).stdout)
    assert again["per_client"] == outcome.result["per_client"]
    assert [(each["phase"], each["in_ops"]) for each in again["per_client"]] == [("write", False), ("stat", True)]
    assert all(row["alone_count"] == row["together_count"] == 2 for each in again["per_client"]
               for row in each["clients"])


def test_the_saved_plan_repeats_the_run(path, out, tmp_path):
    first = run("-i", "0", "-+n", *SHAPE, path=path, out=out).expect(0)
    plan = first.result["run"]["plan"]
    assert plan["per_client"] is False and [phase.get("alone", {}).get("phase") for phase in plan["phases"]] == [
        "write", "write", None]
    printed = program.plain("-i", "0", "-+n", *SHAPE, "--per-client", "--path", path, "--print-plan").expect(0).stdout
    assert "per_client: true" in printed
    file = tmp_path / "plan.yaml"
    file.write_text(printed)
    again = program.run(["--plan", str(file), "--spawn", "2"], path=path, out=tmp_path / "again").expect(0)
    assert names(again) == names(first)


def test_a_criterion_of_an_operation_is_one_of_all_clients(path, out):
    outcome = run("-i", "0", "-+n", "--time", "1.2", "-c", "-e", *SHAPE, "--require", "write:max<=100s", path=path, out=out)
    (criterion,) = outcome.result["criteria"]
    assert criterion["phase"] == "write"


def test_one_worker_is_refused_before_anything_is_written(path, out):
    outcome = program.run(["-i", "0", *SHAPE, "--per-client"], path=path, out=out).expect(1)
    assert "--per-client compares clients, and there is only one worker" in outcome.stderr
    assert not (out / "result.json").exists() and not (path / program.DATA_DIRECTORY).exists()


def test_a_dry_run_estimates_all_phases(path, out):
    outcome = run("-i", "0", "-+n", "--time", "2", *SHAPE, "--dry-run", path=path, out=out).expect(0)
    assert outcome.stdout.count("  phase  write") == 3 and "6 s in 3 phases with a time limit" in outcome.stdout
