"""Limits bound what a phase does: files are finished after it only as far as something still needs them."""
import re
import time

import program
import pytest
from report_checks import check_schema, lanes_of

LANES = ("-t", "2", "-+n", "-r", "4k", "-s", "256k")
WHOLE = 256 << 10


def sizes_after(tmp_path, phase):
    """The options for a hook that notes the sizes of the data files after this phase, and a function that returns them."""
    script, noted = tmp_path / "hook.sh", tmp_path / "sizes"
    script.write_text(f'[ "$IOBENCH_PHASE" = {phase} ] || exit 0\n'
                      f'stat -c %s "$IOBENCH_PATHS"/cluster-iobench.data/lane-* > {noted}\n')
    return ("--after-phase", f"sh {script}"), lambda: [int(size) for size in noted.read_text().split()]


@pytest.mark.parametrize("limit", [("--max-ops", "5"), ("--time", "0.2"), ("--deadline", "0.2"), ("--max-duration", "0.5")])
@pytest.mark.parametrize("transport", ["in-process", "spawn"])
def test_what_nobody_needs_is_not_written_after_the_limit(limit, transport, path, out, tmp_path):
    hook, sizes = sizes_after(tmp_path, "write")
    _, options, _ = program.Transports(tmp_path).parts(transport)
    # With -J 10, a file of 1,048,576 records would take hours within the limit, and seconds after it.
    outcome = program.run(["-i", "0", "-+n", "-r", "4k", "-s", "4g", "-J", "10", *limit, *options, *hook, "--force"],
                          path=path, out=out).expect(0)
    check_schema(outcome.result)
    write, = outcome.phases
    assert sum(sizes()) == write["bytes"] < 4 << 20
    assert write["regions_s"]["settle"] == 0
    assert "finishing files" not in outcome.stderr and not outcome.data.exists()


@pytest.mark.parametrize("options, whole", [
    (("--op", "write,read"), 20 << 10),                     # the read needs five records, too
    (("--op", "write,random-read"), WHOLE),
    (("--op", "write,read", "--repeat", "2"), 20 << 10),
    (("--op", "write", "--repeat", "2"), 20 << 10),         # each repetition writes new files
    (("--op", "write", "-w"), WHOLE),
])
def test_a_file_is_finished_as_far_as_a_later_phase_needs_it(options, whole, path, out, tmp_path):
    hook, sizes = sizes_after(tmp_path, "write")
    outcome = program.run([*options, *LANES, "--max-ops", "5", *hook], path=path, out=out).expect(0)
    assert sizes() == [whole] * 2
    # What is written after the limit counts in no rate.
    assert all(lane["measured_bytes"] <= 20 << 10 for phase in outcome.phases for lane in lanes_of(phase))


def test_a_tree_is_finished_only_for_later_phases(path, out, tmp_path):
    script, noted = tmp_path / "hook.sh", tmp_path / "count"
    script.write_text(f'find "$IOBENCH_PATHS"/cluster-iobench.data -type f -name "item-*" | wc -l >> {noted}\n')
    for options in (("--op", "create"), ("--op", "create,stat")):
        program.run([*options, "-t", "1", "--items", "100", "--max-ops", "7", "--after-phase", f"sh {script}"], path=path,
                    out=out.with_name(f"out{len(options[1])}")).expect(0)
    assert noted.read_text().split() == ["7", "100", "100"]


def test_files_that_take_long_to_finish_are_announced(path, out):
    # The pauses make two ops take 100 ms, from which it is estimated how long the others take.
    slow = ("-J", "50", "--max-ops", "2", "-t", "2", "-+n", "-r", "4k", "-s", "256k")
    outcome = program.run(["--op", "write,random-read", *slow], path=path, out=out).expect(0)
    assert re.search(r"^finishing files for random-read: 496 KiB left, about \d\.?\d* s$", outcome.stderr, re.MULTILINE), outcome
    quick = program.run(["--op", "write,read", *slow], path=path, out=out.with_name("second")).expect(0)
    assert "finishing" not in quick.stderr
    names = program.run(["--op", "create,stat", "--items", "100", "-J", "50", "--max-ops", "2"], path=path,
                        out=out.with_name("third")).expect(0)
    assert re.search(r"^finishing trees for stat: 196 names left, about ", names.stderr, re.MULTILINE), names


def test_no_file_is_finished_after_max_duration(path, out, tmp_path):
    hook, sizes = sizes_after(tmp_path, "write")
    begin = time.monotonic()
    outcome = program.run(["--op", "write,read", "-t", "2", "-+n", "-r", "4k", "-s", "1g", "-o", "--max-duration", "1", *hook],
                          path=path, out=out).expect(0)
    assert [phase["name"] for phase in outcome.phases] == ["write"]
    assert outcome.result["run"]["skipped_phases"] == ["read"]
    assert sum(sizes()) == outcome.phases[0]["bytes"] < 2 << 30
    assert time.monotonic() - begin < program.PATIENCE_S


def test_a_dry_run_counts_what_is_written_before_and_after_phases(path, out):
    def lines(*options):
        return program.run([*options, "-t", "2", "-r", "1m", "-s", "1g", "--dry-run", "--force"], path=path, out=out).expect(0).stdout
    assert "preparing files for read writes 2 GiB: 2 s at 1 GiB/s" in lines("--op", "read", "--time", "1")
    assert "finishing files for read writes up to 2 GiB: 2 s at 1 GiB/s" in lines("--op", "write,read", "--time", "1")
    for options in (("--op", "write", "--time", "1"), ("--op", "write,read", "--max-ops", "3")):
        text = lines(*options)
        assert "finishing" not in text and "preparing files for" not in text, text


def test_a_dry_run_knows_that_kept_data_need_no_preparation(path, out):
    program.run(["-i", "0", "-w", *LANES], path=path, out=out).expect(0)
    text = program.run(["-i", "1", "--time", "1", *LANES, "--dry-run"], path=path, out=out.with_name("dry")).expect(0).stdout
    assert "preparing files for" not in text, text
