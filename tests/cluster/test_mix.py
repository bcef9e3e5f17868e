"""--mix: several operations at once, each with its own workers and share of the rate."""
import json

import program
import pytest
from report_checks import lanes_of

RATE, SECONDS = 1000, 3
POISSON_SLACK = 5  # standard deviations


def parts_of(outcome):
    phase, = outcome.phases
    return {part["name"]: part for part in phase["parts"]}


def assert_rate(part, ops_per_s, seconds=SECONDS):
    """The ops that were due form a Poisson process of this rate, and hardly any was missed."""
    loop = part["open_loop"]
    expected = ops_per_s * seconds
    assert loop["asked_ops_per_s"] == pytest.approx(ops_per_s)
    assert abs(loop["due_ops"] - expected) <= POISSON_SLACK * expected ** 0.5
    done = loop["due_ops"] - loop["missed_ops"]
    assert done == loop["response_us"]["count"]
    # When the time is over, file-mix completes its set of files: up to one cycle of four ops.
    assert 0 <= part["ops"] - done < (4 if part["operation"] == "file-mix" else 1)


@pytest.mark.parametrize("engine", ["posix", "sim:servers=8,service=100us"])
def test_the_ops_of_each_part_are_its_share_of_the_rate(engine, path, out):
    text = "70r:30w@8k + 100r@64k seq 10% + stat 10 %" if engine == "posix" else "70r:30w@8k + random-read@64k 15% + 100w@4k 5%"
    outcome = program.run(["--mix", text, "--rate", str(RATE), "--time", str(SECONDS), "--spawn", "4", "-s", "1m",
                           "--engine", engine], path=path, out=out).expect(0)
    parts = parts_of(outcome)
    mixed = parts["random-mix 70/30 8 KiB"]
    assert_rate(mixed, 0.8 * RATE)
    if engine == "posix":
        assert_rate(parts["read 64 KiB"], 0.1 * RATE)
        assert_rate(parts["stat"], 0.1 * RATE)
        assert parts["read 64 KiB"]["bytes"] == parts["read 64 KiB"]["ops"] * 65536
    else:
        assert_rate(parts["random-read 64 KiB"], 0.15 * RATE)
        assert_rate(parts["random-write 4 KiB"], 0.05 * RATE)
    assert mixed["bytes"] == mixed["ops"] * 8192
    phase, = outcome.phases
    assert sum(part["worker_count"] for part in parts.values()) == 4
    assert min(part["worker_count"] for part in parts.values()) == 1
    assert sum(part["ops"] for part in parts.values()) == phase["ops"] == sum(lane["ops"] for lane in lanes_of(phase))
    assert not outcome.data.exists()


def test_reads_and_writes_of_a_part_have_its_percentages(path, out):
    outcome = program.run(["--mix", "70r:30w@4k", "--rate", str(RATE), "--time", str(SECONDS), "-s", "1m"],
                          path=path, out=out).expect(0)
    phase, = outcome.phases
    assert not phase["parts"], "one part is the whole phase"
    reads, writes = phase["by_kind"]["read"]["ops"], phase["by_kind"]["write"]["ops"]
    assert abs(reads - 0.7 * (reads + writes)) <= POISSON_SLACK * (0.21 * (reads + writes)) ** 0.5


MIX = """
name: seen
groups:
  - name: home
    clients: 2
    parts:
      - {operation: random-read, record_bytes: 4k, ops_per_s: 100}
      - {operation: stat, ops_per_s: 50, tree: {items_per_lane: 100}}
  - name: backup
    parts:
      - {operation: read, record_bytes: 64k, ops_per_s: 40}
"""


def test_the_rates_of_a_file_are_those_of_all_its_clients_times_the_factor(path, out, tmp_path):
    file = tmp_path / "seen.yaml"
    file.write_text(MIX)
    outcome = program.run(["--mix", file, "--mix-factor", "2", "--time", str(SECONDS), "--spawn", "3", "-s", "1m"],
                          path=path, out=out).expect(0)
    parts = parts_of(outcome)
    assert_rate(parts["home: random-read 4 KiB"], 400)
    assert_rate(parts["home: stat"], 200)
    assert_rate(parts["backup: read 64 KiB"], 80)
    assert outcome.phases[0]["name"] == "seen, 2x"
    table = outcome.stdout[outcome.stdout.index("part "):]
    assert "home: stat" in table and "response p50" in table


def test_a_printed_plan_of_a_mix_runs_the_same_mix(path, out, tmp_path):
    printed = program.plain("run", "--path", path, "--mix", "100r@4k + stat 25%", "--rate", "400", "--time", "1", "-s", "1m",
                            "--print-plan")
    assert printed.code == 0, printed.stderr
    plan = tmp_path / "plan.yaml"
    plan.write_text(printed.stdout)
    outcome = program.run(["--plan", plan, "--spawn", "2"], path=path, out=out).expect(0)
    parts = parts_of(outcome)
    assert_rate(parts["random-read 4 KiB"], 300, 1)
    assert_rate(parts["stat"], 100, 1)
    # The saved plan names the workers, so it repeats the run.
    saved = json.loads((out / "result.json").read_text())["run"]["plan"]["phases"][0]
    assert "spreading" not in saved
    assert [each["who"]["workers"] for each in saved["assignments"]] == [[0], [1]]


def test_a_saved_run_reports_the_same_parts(path, out):
    outcome = program.run(["--mix", "100r@4k + stat 25%", "--rate", "300", "--time", "1", "--spawn", "2", "-s", "1m"],
                          path=path, out=out).expect(0)
    again = json.loads(program.plain("report", out, "--format", "json").stdout)
    assert again["phases"][0]["parts"] == outcome.phases[0]["parts"]


def test_mixes_that_come_with_the_program_are_listed_and_run(path, out):
    listed = program.plain("run", "--mix", "list")
    assert listed.code == 0
    names = [line.split()[0] for line in listed.stdout.splitlines()[1:]]
    assert names == ["build-eda", "genomics", "home-directories", "ml-training", "vm-images"]
    outcome = program.run(["--mix", "home-directories", "--rate", "600", "--time", "2", "--spawn", "6", "-s", "1m"],
                          path=path, out=out).expect(0)
    parts = parts_of(outcome)
    assert_rate(parts["stat"], 0.52 * 600, 2)
    assert_rate(parts["file-mix"], 0.05 * 600, 2)


@pytest.mark.parametrize("options, message", [
    (["--mix", "70r:40w@8k", "--rate", "5"], "add up to 110, not to 100"),
    (["--mix", "100r@8k 50% + stat 40%", "--rate", "5"], "add up to 90 (50 + 40), not to 100"),
    (["--mix", "70r:30w@8k"], "add --rate OPS"),
    (["--mix", "70r:30w@8k", "--mix-factor", "2"], "use --rate OPS"),
    (["--mix", "70r:30w@8k", "--mix-factor", "2", "--rate", "5"], "both set the load of the mix"),
    (["--mix-factor", "2"], "--mix-factor needs --mix"),
    (["--mix", "70r:30w@8k", "--rate", "5", "-i", "1"], "the mix says which operations run"),
    (["--mix", "70r:30w@8k", "--rate", "5", "-r", "4k"], "the mix says which operations run"),
    (["--mix", "70r:30w@8k", "--lane-rate", "5"], "the mix determines when ops begin"),
    (["--mix", "70r:30w@8k", "--rate", "5", "-s", "1m", "-s", "2m"], "takes one value"),
    (["--mix", "home-directorys", "--rate", "5"], "did you mean home-directories?"),
    (["--mix", "70r:30w@8k + stat 10%", "--rate", "500", "--time", "1"], "need at least 2 workers per client"),
    (["--mix", "/no/such/mix.yaml"], "/no/such/mix.yaml")])
def test_a_bad_mix_is_refused_in_one_line_before_anything_is_written(options, message, path, out):
    outcome = program.run(options, path=path, out=out)
    assert outcome.code == 1 and message in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1
    assert not outcome.data.exists()


@pytest.mark.parametrize("spreading, assignments, message", [
    ("{group_clients: [1, 1]}", [{}], "each needs assignments"), ("{group_clients: [0]}", [{}], "a group without clients"),
    ("{}", [{"group": 1}], "each needs assignments"), ("{}", [{"who": {"workers": [0]}}], "none may have workers"),
    ("{}", [{"weight": -1}], "weight"), ("{group_clients: [4000000000]}", [{}], "over 1000000")])
def test_a_plan_that_spreads_workers_wrongly_is_refused(spreading, assignments, message, path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    operation = {"name": "read", "record_bytes": "4k"}
    plan.write_text(f"files: {{bytes_per_lane: 64k}}\nphases:\n  - spreading: {spreading}\n    assignments: "
                    f"{json.dumps([{**each, 'operation': operation} for each in assignments])}\n")
    outcome = program.run(["--plan", plan], path=path, out=out)
    assert outcome.code == 1 and message in outcome.stderr
    assert not outcome.data.exists()


@pytest.mark.parametrize("text, message", [
    ("parts: [{operation: random-read, ops_per_s: 5}]", "part 1 (random-read): its record size is missing"),
    ("parts: [{operation: stat, percent: 50}]", "add up to 50 (50), not to 100"),
    ("parts: [{operation: stat, percnt: 50}]", 'unknown field "percnt"'),
    ("- 1", "a mix must be a mapping"), ("", "a mix must be a mapping"), ("parts: []", "it has no parts")])
def test_a_wrong_file_is_refused_with_its_name(text, message, path, out, tmp_path):
    file = tmp_path / "wrong.yaml"
    file.write_text(text)
    outcome = program.run(["--mix", file], path=path, out=out)
    assert outcome.code == 1 and message in outcome.stderr and "wrong.yaml" in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1
