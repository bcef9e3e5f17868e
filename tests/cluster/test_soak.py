"""--soak repeats a plan in rounds: rates, errors, stalls and data loss over all of them, also if something happens meanwhile."""
import json
import re
import signal

import program
import pytest
import schema
from report_checks import check_report

QUICK = ("-r", "4k", "-s", "64k", "--time", "0.1")
SECTORS_OF_LANE = 64 * 1024 // 512


@pytest.fixture(params=["in-process", "spawn"])
def transport(request, tmp_path):
    return program.Transports(tmp_path).parts(request.param)[1]


def after_phase(tmp_path, phase, round_, action):
    """The options for a hook that changes the first lane's file after this phase of this round, counted from 1."""
    script = tmp_path / "hook.sh"
    script.write_text(f'if [ "$IOBENCH_PHASE" = {phase} ] && [ "$IOBENCH_REPETITION" = {round_ - 1} ]; then\n'
                      f'  cd "$IOBENCH_PATHS"/cluster-iobench.data || exit 1\n  {action}\nfi\n')
    return ("--after-phase", f"sh {script}")


def test_rounds_read_what_the_one_before_left_and_report_in_one_line_each(path, out, transport):
    outcome = program.run(["--soak", "4s", *QUICK, *transport], path=path, out=out).expect(0)
    check_report(outcome.result)
    soak = outcome.result["soak"]
    rounds = soak["complete_rounds"]
    assert rounds >= 2 and len(soak["rounds"]) == rounds and len(outcome.phases) == 3 * rounds
    assert [phase["name"] for phase in outcome.phases[:4]] == ["read", "write", "reread", "read"]
    longest_s = max(round_["end_s"] - round_["begin_s"] for round_ in soak["rounds"])
    assert soak["asked_s"] == 4 and soak["rounds"][-1]["begin_s"] < 4 + longest_s <= soak["elapsed_s"] + 2 * longest_s
    assert all(phase["stop"]["whole_passes"] for phase in outcome.result["run"]["plan"]["phases"])
    for phase in outcome.phases:
        assert phase["ops"] % 16 == 0 and phase["ops"] >= 4 * 16, "whole passes of four lanes"
        if phase["name"] != "write":
            assert phase["verify"]["sectors"] >= 4 * SECTORS_OF_LANE
            assert phase["verify"]["mismatched"] == phase["verify"]["undetermined"] == 0
    assert soak["loss"] == {"verified_sectors": sum(phase["verify"]["sectors"] for phase in outcome.phases if "verify" in phase),
                            "lost": 0, "stale": 0, "torn": 0, "wrong": 0, "undetermined": 0, "short_reads": 0,
                            "first_client": "", "first_phase": "", "first_round": 0, "missing_bytes": 0}
    moved = {kind: sum(phase["by_kind"].get(kind, {}).get("bytes", 0) for phase in outcome.phases) for kind in ("read", "write")}
    assert (soak["read_bytes"], soak["written_bytes"]) == (moved["read"], moved["write"])
    assert soak["failed_ops"] == []
    assert [trend["phase"] for trend in soak["trends"]] == ["read", "write", "reread"]
    rates = [phase["headline"]["bytes_per_s"] for phase in outcome.phases if phase["name"] == "write"]
    assert [round_["rates"][1] for round_ in soak["rounds"]] == rates
    assert soak["trends"][1]["rounds"] == rounds
    assert soak["clients"][0]["longest"]["seconds"] > 0
    lines = re.findall(r"^round (\d+) at .*: read .*, write .*, reread .*; failed ops 0; wrong sectors 0; longest pause .* on ",
                       outcome.stdout, re.MULTILINE)
    assert [int(line) for line in lines] == list(range(1, rounds + 1))
    assert "none in the data of" in outcome.stdout and "summary" not in outcome.stdout
    assert json.loads(program.plain("report", out, "--format", "json").expect(0).stdout)["soak"] == soak
    assert program.plain("report", out).expect(0).stdout.count("\nround ") == rounds
    markdown = program.plain("report", out, "--format", "markdown").expect(0).stdout
    assert "## Soak" in markdown and "\n| reread |" in markdown
    assert program.plain("report", out, "--verify").expect(0)
    assert not (path / program.DATA_DIRECTORY).exists()


@pytest.mark.parametrize("kind, action, counted", [
    ("lost", "dd if=/dev/zero of=lane-000000.0 bs=4096 seek=2 count=1 conv=notrunc status=none", 8),
    ("torn", "dd if=/dev/zero of=lane-000000.0 bs=256 seek=33 count=1 conv=notrunc status=none", 1),
    ("wrong", "dd if=lane-000001.0 of=lane-000000.0 bs=512 skip=16 seek=16 count=1 conv=notrunc status=none", 1),
])
def test_data_that_change_between_two_phases_are_found_and_kept(kind, action, counted, path, out, tmp_path, transport):
    outcome = program.run(["--soak", "5s", *QUICK, *transport, *after_phase(tmp_path, "write", 2, action)], path=path, out=out)
    outcome.expect(2)
    assert schema.problems(outcome.result) == []
    soak = outcome.result["soak"]
    assert soak["complete_rounds"] >= 2, "the run goes on"
    assert soak["rounds"][0]["wrong_sectors"] == 0 < soak["rounds"][1]["wrong_sectors"]
    loss = soak["loss"]
    # Found by each pass over the damaged file until it is written again: the reread, and the read of the next round.
    assert loss[kind] > 0 and loss[kind] % counted == 0
    assert sum(loss[other] for other in ("lost", "stale", "torn", "wrong")) == loss[kind]
    assert (loss["first_round"], loss["first_phase"]) == (2, "reread")
    assert loss["first"]["file"].endswith("lane-000000.0") and loss["first"]["offset"] == 8192
    assert loss["first_client"] == soak["clients"][0]["host"]
    assert soak["clients"][0]["wrong_sectors"] == loss[kind]
    if len(soak["rounds"]) > 3:
        assert soak["rounds"][3]["wrong_sectors"] == 0, "it has been written anew"
    assert f"{kind}" in outcome.stdout and "in reread, round 2" in re.sub(r"\s+", " ", outcome.stdout)
    assert (path / program.DATA_DIRECTORY).exists(), "the data are evidence"


def test_an_older_version_of_a_file_is_stale(path, out, tmp_path):
    old = tmp_path / "old"
    save = after_phase(tmp_path, "write", 1, f"cp lane-000000.0 {old}")
    script = tmp_path / "hook.sh"
    script.write_text(script.read_text() + script.read_text().replace("= 0 ]", "= 1 ]").replace(f"lane-000000.0 {old}", f"{old} lane-000000.0"))
    outcome = program.run(["--soak", "5s", *QUICK, "--spawn", "1", "-t", "2", *save], path=path, out=out).expect(2)
    loss = outcome.result["soak"]["loss"]
    assert loss["stale"] > 0 and loss["stale"] % SECTORS_OF_LANE == 0 and loss["lost"] == loss["torn"] == loss["wrong"] == 0


def test_a_file_that_is_gone_is_not_prepared_anew(path, out, tmp_path, transport):
    gone = after_phase(tmp_path, "reread", 1, "rm lane-000000.0")
    outcome = program.run(["--soak", "8s", *QUICK, *transport, *gone], path=path, out=out).expect(2)
    soak = outcome.result["soak"]
    assert [round_["lanes_failed"] for round_ in soak["rounds"]][:3] == [0, 1, 0], "only until it is written again"
    assert soak["clients"][0]["phases_failed"] == 1
    read = [phase for phase in outcome.phases if phase["name"] == "read"][1]
    assert read["lanes_failed"] == 1 and "lane-000000.0" in read["errors"][0]["message"] + read["errors"][0]["file"]
    assert soak["rounds"][1]["rates"][0] is None and soak["rounds"][1]["rates"][2] > 0
    assert "1 lane failed" in outcome.stdout
    loss = soak["loss"]
    assert loss["missing_bytes"] == 64 << 10 and loss["first"]["what"] == "MISSING"
    assert (loss["first_round"], loss["first_phase"]) == (2, "read") and loss["first_client"]
    text = " ".join(outcome.stdout.split())
    assert "data loss 64 KiB of files that were missing or too short; the first in read, round 2 on" in text, outcome
    assert "none in the data" not in text


def test_ctrl_c_ends_it_with_everything_that_was_found(path, out, transport):
    with program.start(["--soak", "1h", *QUICK, *transport], path=path, out=out) as running:
        running.wait_until((out / "raw" / "phase-007.pb").exists, "two rounds")
        running.interrupt()
        outcome = running.wait().expect(130)
    soak = outcome.result["soak"]
    assert soak["complete_rounds"] >= 2 and outcome.result["run"]["exit_code"] == 130
    assert "\nround 2 at " in outcome.stdout and "none in the data of" in outcome.stdout
    assert not (path / program.DATA_DIRECTORY).exists()
    refused = program.plain("run", "--resume", out).expect(1)
    assert "a soak cannot be resumed" in refused.stderr and refused.stderr.count("\n") == 1


def test_a_soak_goes_on_without_a_worker_that_is_lost(path, out, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts("join-unix")
    with program.start(["--soak", "5s", *QUICK, *options], path=path, out=out, prefix=prefix, helpers=helpers) as running:
        running.wait_until((out / "raw" / "phase-003.pb").exists, "a round")
        running.workers[0].send_signal(signal.SIGKILL)
        outcome = running.wait().expect(3)
    soak = outcome.result["soak"]
    assert max(round_["workers_lost"] for round_ in soak["rounds"]) == 1 and soak["rounds"][-1]["bytes"] > 0
    assert "1 worker lost" in outcome.stdout and sum(client["phases_lost"] for client in soak["clients"]) > 0


def test_metadata_operations_are_soaked_too(path, out):
    outcome = program.run(["--op", "create,stat,unlink", "--items", "20", "-t", "2", "--soak", "3s", "--transport", "local"],
                          path=path, out=out).expect(0)
    soak = outcome.result["soak"]
    assert soak["complete_rounds"] >= 2 and soak["loss"]["verified_sectors"] == 0
    assert all(trend["in_ops"] for trend in soak["trends"])
    # However short the rounds are, there are at most 10,000 in the whole run.
    begins = [round_["begin_s"] for round_ in soak["rounds"]]
    assert begins == sorted(begins)
    assert "nothing was verified" in outcome.stdout


def test_a_criterion_holds_in_every_round(path, out):
    outcome = program.run(["--soak", "1s", *QUICK, "-t", "1", "--require", "write:marks=none"], path=path, out=out).expect(4)
    verdict, = outcome.result["criteria"]
    assert not verdict["met"] and verdict["phase"].startswith("write, round "), verdict
    assert verdict["problem"] == "", "the phases last 0.1 s, and are marked for that"


@pytest.mark.parametrize("words, said", [
    ("--soak 0", "--soak"),
    ("--soak -5m", "--soak"),
    ("--soak 12parsecs", "d, as in 500ms"),
    ("--soak 1h --repeat 2", "--repeat"),
    ("--soak 1h -a", "--auto"),
    ("--soak 1h --per-client", "--per-client"),
    ("--soak 1h --data zero", "--data"),
    ("--soak 1h --max-duration 60", "--max-duration"),
    ("--soak 1h --engine null", "null"),
])
def test_what_makes_no_sense_is_refused_before_anything_is_written(words, said, path, out):
    outcome = program.run(words.split(), path=path, out=out).expect(1)
    assert said in outcome.stderr and outcome.stderr.count("\n") == 1, outcome
    assert not out.exists() and not (path / program.DATA_DIRECTORY).exists()


def test_a_dry_run_says_how_long_rounds_take_and_how_many_there_are(path, out):
    said = re.sub(r"\s+", " ", program.run(["--soak", "1h", "-t", "1", "--dry-run"], path=path, out=out).expect(0).stdout)
    assert "time 1 h 00 min in rounds (--soak), of which the last one is completed" in said, said
    assert "a round 12 s in 3 phases with a time limit" in said and "at most 300 rounds" in said, said


def test_a_printed_plan_repeats_the_soak(path, out, tmp_path):
    printed = program.run(["--soak", "1s", *QUICK, "-t", "1", "--print-plan"], path=path, out=out).expect(0).stdout
    assert "soak_s: 1\n" in printed and "whole_passes: true" in printed
    (tmp_path / "plan.yaml").write_text(printed)
    outcome = program.run(["--plan", str(tmp_path / "plan.yaml")], path=path, out=out).expect(0)
    assert outcome.result["soak"]["complete_rounds"] >= 1
