"""IOzone's formats of real runs, read by field position and compared with result.json figure by figure."""
import calendar
import re
import time

import iozone_format
import program
import pytest

SMALL = ("-r", "4k", "-s", "256k")
LETTERS = ("excel", "ops_per_s", "us_per_op", "children", "machine", "cpu", "histograms", "log")
TRANSPORTS = ["in-process", "spawn", program.MPI]


def run_as_iozone(args, path, out, **more):
    outcome = program.run([*args, "--format", "iozone"], path=path, out=out, **more).expect(0)
    text = (out / "report.iozone.txt").read_text()
    assert outcome.stdout == text, "what is printed is what is kept"
    assert program.plain("report", out, "--format", "iozone").expect(0).stdout == text
    assert text.endswith("\niozone test complete.\n")
    return outcome, text


def in_directory(directory):
    return ("env", "-C", str(directory))


def test_automatic_mode_is_the_table(path, out):
    outcome, text = run_as_iozone(["-a", "-g", "1m"], path, out)
    rows = iozone_format.check_table(text, outcome.result)
    assert sorted(rows) == sorted((file, record) for file in (64, 128, 256, 512, 1024)
                                  for record in (4, 8, 16, 32, 64, 128, 256, 512, 1024) if record <= file)
    assert '"Writer report"' not in text, "only with -R"
    assert "\tOutput is in kBytes/sec\n" in text
    assert "\tAuto Mode\n\tUsing maximum file size of 1024 kilobytes.\n" in text
    for absent in ("Using minimum file size", "Cross over", "File size set to", "Record Size", "No retest"):
        assert absent not in text, "only what was given"
    # Graph tools read field n of lines with exactly 15 numbers.
    phases = iozone_format.phases_by_cell(outcome.result)
    full = iozone_format.words_of_full_rows(text)
    assert len(full) == len(rows)
    for row in full:
        for operation, value in zip(iozone_format.COLUMNS, row[2:]):
            assert value == iozone_format.value_of(phases[row[0], row[1], operation])


def test_excel_follows_the_table_and_only_tests_that_ran_are_in_it(path, out):
    outcome, text = run_as_iozone(["-a", "-g", "256k", "-i", "0", "-i", "1", "-R"], path, out)
    iozone_format.check_table(text, outcome.result)
    assert text.index("reclen") < text.index("\nExcel output is below:\n\n")
    iozone_format.check_excel(text, outcome.result)
    assert "\tExcel chart generation enabled\n" in text


def test_excel_follows_the_report_on_the_screen(path, out):
    """A terminal's report; test_as_iozone.py has what a pipe gets."""
    outcome = program.run(["-R", "--as-iozone=0", "-i", "0", "-t", "1", *SMALL], path=path, out=out).expect(0)
    report, excel = outcome.stdout.split("\nExcel output is below:\n")
    assert "\nwrite " in report and "stonewall" in report
    iozone_format.check_excel(excel, outcome.result)
    assert not (out / "report.iozone.txt").exists()


def test_excel_is_not_mixed_into_another_format(path, out):
    outcome = program.run(["-R", "-i", "0", *SMALL, "--format", "csv"], path=path, out=out).expect(0)
    assert "report\"" not in outcome.stdout and outcome.stdout == (out / "phases.csv").read_text()


def test_a_left_out_retest_is_0_and_a_test_that_was_not_asked_for_is_blank(path, out):
    outcome, text = run_as_iozone(["-i", "0", "-i", "2", "-+n", "-t", "1", *SMALL], path, out)
    row, = iozone_format.check_table(text, outcome.result).values()
    assert row["rewrite"] == 0 and row["read"] is None and row["random-write"] > 0


def test_tests_of_E_have_columns_of_their_own(path, out):
    outcome, text = run_as_iozone(["-E", "-i", "0", "-i", "9", "-i", "10", "-t", "1", *SMALL], path, out)
    row, = iozone_format.check_table(text, outcome.result, extended=True).values()
    assert row["pwrite"] > 0 and row["repread"] > 0


@pytest.mark.parametrize("letter, unit, line", [("-O", "ops", "OPS Mode. Output is in operations per second."),
                                                ("-N", "us", "Microseconds/op Mode. Output is in microseconds per operation.")])
def test_other_units_hold_for_the_table_and_for_excel(path, out, letter, unit, line):
    outcome, text = run_as_iozone(["-a", "-g", "128k", letter, "-R"], path, out)
    iozone_format.check_table(text, outcome.result, unit=unit)
    iozone_format.check_excel(text, outcome.result, unit=unit)
    assert f"\t{line}\n" in text and "kBytes/sec" not in text


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_several_lanes_have_lines_of_their_own(transport, path, out, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    outcome, text = run_as_iozone(["-i", "0", "-i", "1", "-i", "2", "-C", "-R", "-+u", "-x", *SMALL, *options], path, out,
                                  prefix=prefix, helpers=helpers)
    iozone_format.check_throughput(text, outcome.result)
    iozone_format.check_throughput_excel(text, outcome.result)
    assert outcome.result["run"]["lane_count"] == 4
    assert "\tThroughput test with 4 processes\n\tEach process writes a 256 kByte file in 4 kByte records\n" in text
    assert ("\n\tTest running:\n" in text) == (transport != "in-process"), "as in IOzone's cluster mode"
    cpu = text.split('\n"CPU utilization report Y-axis is type of test X-axis is number of processes"\n')[1]
    labels = [line.split('"')[1].strip() for line in cpu.splitlines() if re.match(r'" *[A-Z].* " ', line)]
    assert labels == ["Initial write", "Rewrite", "Read", "Re-read", "Random read", "Random write"]


def test_operations_per_second_with_several_lanes(path, out):
    outcome, text = run_as_iozone(["-i", "0", "-i", "1", "-C", "-R", "-O", "-t", "2", *SMALL], path, out)
    iozone_format.check_throughput(text, outcome.result, unit="ops")
    iozone_format.check_throughput_excel(text, outcome.result, unit="ops/sec")


def test_a_sweep_over_lanes_is_a_column_each(path, out):
    outcome, text = run_as_iozone(["-i", "0", "-i", "8", "-R", "-l", "1", "-u", "3", *SMALL], path, out)
    iozone_format.check_throughput(text, outcome.result)
    iozone_format.check_throughput_excel(text, outcome.result)
    assert "\tMin process = 1 \n\tMax process = 3 \n" in text
    assert re.findall(r"\tThroughput test with (.*)\n", text) == ["1 process", "2 processes", "3 processes"]


def test_the_letters_are_kept_with_the_result(path, out):
    outcome = program.run(["-i", "0", "-RCMO", "-+u", "-+z", "-+T", "-t", "2", *SMALL], path=path, out=out).expect(0)
    kept = outcome.result["run"]["iozone"]
    assert {letter for letter in LETTERS if kept[letter]} == set(LETTERS) - {"us_per_op"}


def test_the_machine_is_in_the_banner(path, out):
    outcome, text = run_as_iozone(["-M", "-i", "0", "-t", "1", *SMALL], path, out)
    client, = outcome.result["clients"]
    line, = re.findall(r"^\tMachine = (.*)$", text, re.M)
    assert line.startswith(f"{client['kernel']} {client['host']}, {client['processors']} processor")


@pytest.mark.parametrize("options,lines", [
    (("-z", "-a", "-n", "64", "-g", "128", "-+n"),
     ("Auto Mode", "Cross over of record size disabled.", "Using minimum file size of 64 kilobytes.",
      "Using maximum file size of 128 kilobytes.", "No retest option selected")),
    (("-A", "-g", "64"), ("Auto Mode", "Cross over of record size disabled.", "Using maximum file size of 64 kilobytes.")),
    (("-i", "0", "-s", "128", "-r", "4", "-s", "64", "-r", "8"),
     ("Record Size 4 kB", "Record Size 8 kB", "File size set to 128 kB", "File size set to 64 kB")),
    # No sizes were given, so the banner has those of the run.
    (("-i", "0", "--max-ops", "1"), ("Record Size 64 kB", "File size set to 65536 kB")),
], ids=["auto", "auto-read-write", "sizes", "defaults"])
def test_options_that_leave_no_trace_in_the_plan_are_in_the_banner(options, lines, path, out):
    automatic = {"-a", "-A"} & set(options)
    _, text = run_as_iozone([*options, *(() if automatic else ("-t", "1"))], path, out)
    banner = text.split("\tRun began:")[1].split("Command line used:")[0].splitlines()[2:]
    assert tuple(line[1:] for line in banner if line.strip()) == lines


def test_options_of_the_plan_are_in_the_banner(path, out):
    _, text = run_as_iozone(["-i", "0", "-i", "5", "-cew", "-o", "-x", "-t", "1", "-j", "3", "-p", "-S", "512", "-L", "64",
                             *SMALL], path, out)
    banner = text.split("Command line used:")[0]
    for line in ("Include close in write timing", "Include fsync in write timing", "SYNC Mode. ", "Stonewall disabled",
                 "Setting no_unlink", "Record Size 4 kB", "File size set to 256 kB"):
        assert f"\t{line}\n" in banner, banner
    for line in ("Processor cache size set to 512 kBytes.", "Processor cache line size set to 64 bytes.",
                 "File stride size set to 3 * record size."):
        assert f"\t{line}\n" in text
    assert re.search(r"^\tTime Resolution = 0\.0000000\d\d seconds\.$", text, re.M)
    for absent in ("O_DIRECT", "Using mmap", "Network distribution", "OPS Mode", "Offset/latency"):
        assert absent not in banner


# ------------------------------------------------------------------------------------------------- -Q

def check_ops(ops, count=64, record=4096, ordered=True):
    """Checks that each record occurs once, with a plausible latency."""
    offsets = [offset for offset, _, _ in ops]
    assert (offsets if ordered else sorted(offsets)) == [record * n // 1024 for n in range(count)]
    assert all(size == record and 0 <= latency < 60e6 for _, latency, size in ops)


def test_the_only_lane_logs_offsets_and_latencies(path, out, tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    args = ["-Q", "-i", "0", "-i", "1", "-i", "2", "-t", "1", *SMALL]
    outcome, text = run_as_iozone(args, path, out, prefix=in_directory(here))
    assert "\tOffset/latency files enabled.\n" in text
    assert sorted(file.name for file in here.iterdir()) == ["randrol.dat", "randwol.dat", "rol.dat", "rrol.dat", "rwol.dat",
                                                           "wol.dat"]
    for name in ("wol", "rwol", "rol", "rrol", "randrol", "randwol"):
        (ops, times), = iozone_format.offset_latency_of((here / f"{name}.dat").read_text())
        check_ops(ops, ordered=not name.startswith("rand"))
        assert len(times) == 3 and all(0 <= each < 60 for each in times)
        rounded_s = 0.5e-3 + 64 * 0.5e-6       # the times are in ms, the latencies in us
        assert sum(latency for _, latency, _ in ops) / 1e6 <= times[2] + rounded_s, "the ops are within the real time"
    steps = {step["name"]: step["outcome"] for step in outcome.phases[0]["steps"]}
    assert steps["offset-latency"] == f"64 ops in {here / 'wol.dat'} of 1 lane"
    # A second run adds its tests to the same files, as IOzone does.
    program.run(args, path=path, out=tmp_path / "again", prefix=in_directory(here)).expect(0)
    tests = iozone_format.offset_latency_of((here / "rol.dat").read_text())
    assert [len(ops) for ops, _ in tests] == [64, 64]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_several_lanes_log_into_files_of_their_own(transport, path, out, tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    program.run(["-Q", "--op", "write", "--op", "backward-read", *SMALL, *options], path=path, out=out,
                prefix=(*in_directory(here), *prefix), helpers=helpers).expect(0)
    logs = sorted(here.glob("*.dat"))
    assert [log.name for log in logs] == sorted(f"Child_{lane}_{name}.dat" for lane in range(4) for name in ("wol", "revol"))
    for log in logs:
        (ops, times), = iozone_format.offset_latency_of(log.read_text())
        assert times is None
        check_ops(ops if "_wol" in log.name else ops[::-1])


def test_only_the_measured_part_is_logged(path, out, tmp_path):
    """A lane that ends early completes its file afterwards if the data are kept; no figure counts this."""
    here = tmp_path / "here"
    here.mkdir()
    outcome = program.run(["-Q", "-w", "--op", "write", "-t", "2", "--max-ops", "10", *SMALL], path=path, out=out,
                          prefix=in_directory(here)).expect(0)
    for number, lane in iozone_format.lanes_of(outcome.phases[0]).items():
        (ops, _), = iozone_format.offset_latency_of((here / f"Child_{number}_wol.dat").read_text())
        check_ops(ops, count=10)
        assert lane["ops"] == 64, "the file was completed"


def test_a_foreign_file_is_left_alone_and_nothing_runs(path, out, tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    (here / "wol.dat").write_text("mine\n")
    outcome = program.run(["-Q", "-i", "0", "-t", "1", *SMALL], path=path, out=out, prefix=in_directory(here)).expect(1)
    assert "wol.dat" in outcome.stderr and not outcome.data.exists() and not out.exists(), outcome
    assert (here / "wol.dat").read_text() == "mine\n"


# ------------------------------------------------------------------------------------------------- -+z, -+T

def test_histograms_count_every_op(path, out):
    outcome = program.run(["-+z", "-i", "0", "-i", "1", "-t", "2", *SMALL], path=path, out=out).expect(0)
    for number in range(2):
        histograms = iozone_format.histograms_of((out / f"Iozone_histogram_child_{number}.txt").read_text())
        assert list(histograms) == ["write", "Rewrite", "Read", "Reread"]
        for counts, phase in zip(histograms.values(), outcome.phases):
            lane = iozone_format.lanes_of(phase)[number]
            assert sum(count for _, count in counts) == lane["ops"] == 64
            assert [count for _, count in counts] == lane["iozone_bands"]
            # The median is in the band in which the running total reaches half of the ops.
            total, edge = 0, None
            for label, count in counts:
                total += count
                if total >= 32:
                    edge = label
                    break
            scale = {"us": 1, "ms": 1e3, "s": 1e6}[re.sub(r"[\d+]", "", edge)]
            assert lane["p50_us"] <= float(re.sub(r"\D", "", edge)) * scale
    assert not (out / "Child_0.log").exists()


def test_logs_say_when_each_test_began_and_ended(path, out):
    begin = int(time.time())
    program.run(["-+T", "-i", "0", "-i", "1", "-+n", "-t", "2", *SMALL], path=path, out=out).expect(0)
    end = int(time.time())
    for number in range(2):
        lines = (out / f"Child_{number}.log").read_text().splitlines()
        assert [line[:26].rstrip() for line in lines] == ["Write test start:", "Write test finished:", "Read test start:",
                                                         "Read test finished:"]
        times = [calendar.timegm(time.strptime(line[26:])) for line in lines]
        assert begin <= times[0] <= times[1] <= times[2] <= times[3] <= end
    assert not list(out.glob("Iozone_histogram*"))


# ------------------------------------------------------------------------------------------------- what is refused

@pytest.mark.parametrize("args, words", [
    (["-N", "-t", "2", "-i", "0"], ["-N", "-t"]),
    (["-N", "-O", "-i", "0"], ["-N", "-O"]),
    (["-Q", "--op", "mkdir"], ["-Q"]),
    (["-Q", "-i", "1", "--engine", "posix-aio", "--depth", "4"], ["-Q", "depth"]),
])
def test_what_cannot_go_together_is_refused(path, out, args, words):
    outcome = program.run(args, path=path, out=out).expect(1)
    assert all(word in outcome.stderr for word in words), outcome
