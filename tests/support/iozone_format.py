"""Reads IOzone's text formats by their field positions, and compares every figure with result.json.

Written from the description of IOzone 3.471's output, not from our writer: programs for IOzone's output rely on the same
positions.
"""
import math
import re

COLUMNS = ["write", "rewrite", "read", "reread", "random-read", "random-write", "backward-read", "record-rewrite",
           "stride-read", "fwrite", "refwrite", "fread", "refread"]
WIDTHS = [9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9]
EXTENDED = ["pwrite", "repwrite", "pread", "repread"]
EXTENDED_WIDTHS = [8, 9, 8, 9]
RETESTS = {"rewrite": "write", "reread": "read", "refwrite": "fwrite", "refread": "fread", "repwrite": "pwrite",
           "repread": "pread"}
HEADING = [
    " " * 62 + "random    random     bkwd    record    stride" + " " * 36,
    "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite"
    " frewrite    fread  freread",
]
TITLES = {"write": "Writer", "rewrite": "Re-writer", "read": "Reader", "reread": "Re-Reader", "random-read": "Random read",
          "random-write": "Random write", "backward-read": "Backward read", "record-rewrite": "Record rewrite",
          "stride-read": "Stride read", "fwrite": "Fwrite", "refwrite": "Re-Fwrite", "fread": "Fread",
          "refread": "Re-Fread", "pwrite": "Pwrite", "repwrite": "Re-Pwrite", "pread": "Pread", "repread": "Re-Pread"}
SUBJECTS = {"write": "initial writers", "rewrite": "rewriters", "read": "readers", "reread": "re-readers",
            "backward-read": "reverse readers", "stride-read": "stride readers", "random-read": "random readers",
            "random-mix": "mixed workload", "random-write": "random writers", "pwrite": "pwrite writers",
            "pread": "pread readers", "fwrite": "fwriters", "fread": "freaders"}
LABELS = {"write": "Initial write", "rewrite": "Rewrite", "read": "Read", "reread": "Re-read",
          "backward-read": "Reverse Read", "stride-read": "Stride read", "random-read": "Random read",
          "random-mix": "Mixed workload", "random-write": "Random write", "pwrite": "Pwrite", "pread": "Pread",
          "fwrite": "Fwrite", "fread": "Fread"}
NUMBER = r" *([0-9.]+)"


def rows_of(text, extended=False):
    """The table: (file kB, record kB) -> operation -> whole number, or None for blanks."""
    lines = text.split("\n")
    names, widths = COLUMNS + (EXTENDED if extended else []), WIDTHS + (EXTENDED_WIDTHS if extended else [])
    start = lines.index(HEADING[0] + " " * (sum(EXTENDED_WIDTHS) if extended else 0))
    assert lines[start + 1].startswith(HEADING[1])
    rows = {}
    for line in lines[start + 2:]:
        if not re.match(r" +\d+ +\d+ ", line):
            break
        assert len(line) == 24 + sum(widths), repr(line)
        at, cells = 24, {}
        for name, width in zip(names, widths):
            cell = line[at:at + width]
            assert re.fullmatch(r" +(\d+)?|\d+", cell), repr(line)
            cells[name] = int(cell) if cell.strip() else None
            at += width
        key = (int(line[:16]), int(line[16:24]))
        assert key not in rows, key
        rows[key] = cells
    return rows


def words_of_full_rows(text):
    """The rows that gengnuplot.sh and iozone_visualizer.pl read: lines of exactly 15 numbers."""
    rows = [line.split() for line in text.split("\n")]
    return [[int(word) for word in row] for row in rows if len(row) == 15 and all(word.isdigit() for word in row)]


def excel_of(text):
    """Title -> (record sizes, file size -> values as text)."""
    blocks = {}
    for title, head, body in re.findall(r'^"([^"\n]+ report(?: \(Zero values should be ignored\))?)"\n(      (?:  "\d+")+)\n((?:"\d+"  .*\n)+)\n',
                                        text, re.M):
        lines = {}
        for line in body.splitlines():
            size, values = re.fullmatch(r'"(\d+)"  ((?: +[0-9.]+ )+)', line).groups()
            lines[int(size)] = values.split()
        assert title not in blocks, title
        blocks[title] = ([int(word) for word in re.findall(r"\d+", head)], lines)
    return blocks


def value_of(phase, unit="kB"):
    """The value as IOzone prints it, truncated to a whole number."""
    ops = phase["throughput_ops_per_s"]["children"]
    return math.floor({"kB": phase["throughput_bytes_per_s"]["children"] / 1024, "ops": ops, "us": 1e6 / ops}[unit])


def phases_by_cell(result):
    return {(phase["bytes_per_lane"] // 1024, phase["record_bytes"] // 1024, phase["operation"]): phase
            for phase in result["phases"]}


def check_table(text, result, unit="kB", extended=False):
    """Checks that every figure of the table is in result.json and every phase in the table."""
    rows, phases = rows_of(text, extended), phases_by_cell(result)
    planned = {phase["operation"] for phase in result["phases"]}
    seen = 0
    for (file_kb, record_kb), cells in rows.items():
        for operation, value in cells.items():
            phase = phases.get((file_kb, record_kb, operation))
            if phase is None:
                left_out = RETESTS.get(operation) in planned and operation not in planned
                assert value == (0 if left_out else None), (file_kb, record_kb, operation, value)
                continue
            assert value == value_of(phase, unit), (file_kb, record_kb, operation)
            seen += 1
    assert seen == len(phases) > 0
    return rows


def check_excel(text, result, unit="kB"):
    phases, blocks = phases_by_cell(result), excel_of(text)
    figures = {title: block for title, block in blocks.items() if "CPU" not in title}
    assert list(figures) == [f"{title} report" for operation, title in TITLES.items()
                             if any(cell[2] == operation for cell in phases)]
    seen = 0
    for operation, title in TITLES.items():
        records, lines = figures.get(f"{title} report", ([], {}))
        assert records == sorted(records)
        for file_kb, values in lines.items():
            assert len(values) == sum(record <= file_kb for record in records), "a line ends with the largest record"
            for record_kb, value in zip(records, values):
                phase = phases.get((file_kb, record_kb, operation))
                assert int(value) == (0 if phase is None else value_of(phase, unit)), (operation, file_kb, record_kb)
                seen += phase is not None
    assert seen == len(phases) > 0
    return blocks


def lanes_of(phase):
    return {lane["lane"]: lane for client in phase["clients"] for worker in client["workers"] for lane in worker["lanes"]
            if not lane["failed"] and not lane["sat_out"]}


def check_throughput(text, result, unit="kB"):
    """Checks the lines of every phase: IOzone's words, tabs and figures."""
    blocks = re.split(r"^\tChildren see throughput for ", text, flags=re.M)[1:]
    assert len(blocks) == len(result["phases"])
    per = 1 if unit == "ops" else 1024
    rates = "throughput_ops_per_s" if unit == "ops" else "throughput_bytes_per_s"
    spread, rate = ("lanes_ops_per_s", "ops_per_s") if unit == "ops" else ("lanes_bytes_per_s", "bytes_per_s")
    amount = "measured_ops" if unit == "ops" else "measured_bytes"
    for phase, block in zip(result["phases"], blocks):
        lanes = lanes_of(phase)
        subject = rf" {{0,1}}{len(lanes)} {SUBJECTS[phase['operation']]} \t+"
        parts = re.match(rf"{subject}={NUMBER} {unit}/sec\n"
                         rf"\tParent sees throughput for {subject}={NUMBER} {unit}/sec\n"
                         rf"\tMin throughput per process \t\t\t={NUMBER} {unit}/sec \n"
                         rf"\tMax throughput per process \t\t\t={NUMBER} {unit}/sec\n"
                         rf"\tAvg throughput per process \t\t\t={NUMBER} {unit}/sec\n"
                         rf"\tMin xfer \t\t\t\t\t={NUMBER} {unit}\n", block)
        assert parts, block
        expected = [phase[rates]["children"] / per, phase[rates]["parent"] / per, phase[spread]["min"] / per,
                    phase[spread]["max"] / per, phase[spread]["mean"] / per,
                    min(lane[amount] for lane in lanes.values()) / per]
        assert list(parts.groups()) == [f"{figure:.2f}" for figure in expected]
        rest = block[parts.end():]
        children = re.findall(rf"^\tChild\[(\d+)\] xfer count ={NUMBER} {unit}, Throughput ={NUMBER} {unit}/sec"
                              rf"(?:, wall={NUMBER}, cpu={NUMBER}, %={NUMBER})?$", rest, re.M)
        if result["run"]["iozone"]["children"]:
            assert [(int(child[0]), child[1], child[2]) for child in children] == [
                (number, f"{lane[amount] / per:.2f}", f"{lane[rate] / per:.2f}") for number, lane in sorted(lanes.items())]
        else:
            assert not children
        if result["run"]["iozone"]["cpu"]:
            word = "Utilization" if phase["operation"] == "write" else "utilization"
            wall, cpu = wall_and_cpu(list(lanes.values()))
            line = f"\tCPU {word}: Wall time {wall:8.3f}    CPU time {cpu:8.3f}    CPU utilization {100 * cpu / wall:6.2f} %\n\n"
            assert rest.startswith(line), (rest, line)
            for number, _, _, *own in children:
                wall, cpu = wall_and_cpu([lanes[int(number)]])
                assert own == [f"{wall:.3f}", f"{cpu:.3f}", f"{100 * cpu / wall:.2f}"]


def wall_and_cpu(lanes):
    """(longest wall time, sum of CPU times). As in IOzone, no lane has a wall time below its CPU time."""
    cpu = [lane["cpu_user_s"] + lane["cpu_system_s"] for lane in lanes]
    wall = [lane["end_s"] - lane["start_us"] / 1e6 for lane in lanes]
    return max(map(max, zip(wall, cpu))), sum(cpu)


def check_throughput_excel(text, result, unit="kBytes/sec"):
    """Checks the block: a row per test, a column per number of lanes."""
    per = 1 if unit == "ops/sec" else 1024
    rates = "throughput_ops_per_s" if unit == "ops/sec" else "throughput_bytes_per_s"
    first = result["phases"][0]
    head = ('\n"Throughput report Y-axis is type of test X-axis is number of processes"\n'
            f'"Record size = {first["record_bytes"] // 1024} kBytes "\n"Output is in {unit}"\n\n')
    assert head in text
    body = text.split(head)[1].split('\n"CPU')[0]
    rows = {label.strip(): values.split() for label, values in re.findall(r'^"(.{15,} )" (.*) $', body, re.M)}
    expected = {}
    for phase in result["phases"]:
        expected.setdefault(LABELS[phase["operation"]], []).append(f"{phase[rates]['children'] / per:.2f}")
    assert rows == expected
    assert all(label.rjust(15) == label_text for label, label_text in
               zip(expected, re.findall(r'^"(.{15,}) " ', body, re.M)))


def offset_latency_of(text):
    """The tests in a -Q file: lists of (offset kB, latency us, size), and the last line's times or None."""
    tests = []
    heading = re.compile(r"Offset in kBytes   Latency in microseconds {1,2}Transfer size in bytes$")
    for line in text.split("\n"):
        if heading.match(line):
            tests.append(([], None))
        elif line.startswith("System time"):
            times = re.fullmatch(r"System time (.{10}) User time (.{10}) Real (.{10})  \(seconds\)", line).groups()
            tests[-1] = (tests[-1][0], [float(time) for time in times])
        elif line:
            assert len(line) >= 32 and line[10] == " " and line[21] == " ", repr(line)
            tests[-1][0].append((int(line[:10]), float(line[11:21]), int(line[22:])))
    return tests


def histograms_of(text):
    """Op -> counts of the 40 bands."""
    found = {}
    for op, body in re.findall(r"^Child: \d+ Op: (.*)\n((?:Band \d:.*\n)+)", text, re.M):
        lines = body.splitlines()
        assert [line.split(":")[0] for line in lines] == [f"Band {n}" for n in range(1, 10)]
        found[op] = [(label, int(count)) for line in lines for label, count in re.findall(r" (\d+\+?[mu]?s):(\d+)", line)]
        assert len(found[op]) == 40
    return found
