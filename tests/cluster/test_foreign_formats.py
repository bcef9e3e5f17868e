"""The formats of fio, IOR, mdtest and the first Bonnie agree with result.json, read as programs for those tools read them."""
import json
import pathlib
import re
import subprocess

import program
import pytest
import schema

SAVED = pathlib.Path(__file__).resolve().parents[1] / "support" / "saved_runs" / "2026-11"   # sizes, names, repetitions
READS = ("read", "reread", "random-read")


def shown(directory, name):
    return program.plain("report", directory, "--format", name).expect(0).stdout


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    file = tmp_path_factory.mktemp("saved") / "result.json"
    program.plain("report", SAVED, "--format", "json", "--output", file).expect(0)
    return schema.load(file)


def phases_of(result):
    """By name: the phases of all repetitions."""
    found = {}
    for phase in result["phases"]:
        found.setdefault(phase["name"], []).append(phase)
    return found


def over(figures):
    """(max, min, mean, standard deviation) as IOR and mdtest have them."""
    mean = sum(figures) / len(figures)
    deviation = (sum((figure - mean) ** 2 for figure in figures) / max(1, len(figures) - 1)) ** 0.5
    return max(figures), min(figures), mean, deviation


# --------------------------------------------------------------------------------------------------------------- fio

def fio_plot_row(job, direction):
    """What fio-plot takes of a job, by its paths."""
    return {"iodepth": int(job["job options"]["iodepth"]), "numjobs": int(job["job options"]["numjobs"]),
            "bs": job["job options"]["bs"], "rw": job["job options"]["rw"], "bw": job[direction]["bw"],
            "iops": job[direction]["iops"], "iops_stddev": job[direction]["iops_stddev"],
            "lat": job[direction]["lat_ns"]["mean"], "lat_stddev": job[direction]["lat_ns"]["stddev"],
            "latency": [job["latency_ns"], job["latency_us"], job["latency_ms"]], "cpu": (job["usr_cpu"], job["sys_cpu"])}


def test_fio_plot_and_notebooks_find_their_figures(result):
    document = json.loads(shown(SAVED, "fio-json"))
    assert document["fio version"].startswith("fio-3")
    phases = [phase for phase in result["phases"] if not phase["metadata"]]
    assert [job["jobname"] for job in document["jobs"]] == [phase["name"] for phase in phases] and phases
    for job, phase in zip(document["jobs"], phases):
        used, idle = ("read", "write") if phase["operation"] in READS else ("write", "read")
        row = fio_plot_row(job, used)
        headline, latency = phase["headline"], phase["latency_us"]
        assert row["iops"] == pytest.approx(headline["ops_per_s"]) and row["bw"] == round(headline["bytes_per_s"] / 1024)
        assert row["lat"] == pytest.approx(latency["mean"] * 1e3) and row["iodepth"] == 1
        assert row["numjobs"] == phase["lane_count"] and row["iops_stddev"] >= 0
        assert row["rw"] == ("rand" if "random" in phase["operation"] else "") + used
        assert sum(sum(bands.values()) for bands in row["latency"]) == pytest.approx(100)
        percentiles = job[used]["clat_ns"]["percentile"]
        for key, name in (("50.000000", "p50"), ("90.000000", "p90"), ("99.000000", "p99"), ("99.900000", "p99_9")):
            assert percentiles[key] == pytest.approx(latency[name] * 1e3, abs=1), key
        assert percentiles["95.000000"] <= percentiles["99.000000"]
        assert job[used]["total_ios"] == phase["measured_ops"] and job[used]["io_bytes"] == phase["measured_bytes"]
        assert job[idle]["iops"] == job["trim"]["iops"] == 0 and "percentile" not in job[idle]["clat_ns"]
        assert job["sync"] == {"total_ios": 0, "lat_ns": {"min": 0, "max": 0, "mean": 0, "stddev": 0, "N": 0}}
        assert job["cluster_iobench"]["marks"] == list(dict.fromkeys(mark["code"] for mark in phase["marks"]))


def test_flush_calls_are_what_fio_itself_calls_syncs(path, out, tmp_path):
    """The paths, and which percentiles, of fio's own `sync`."""
    ours = program.run(["--op", "append-log", "-r", "2300b", "-s", "230k", "-t", "2"], path=path, out=out).expect(0)
    [phase] = ours.phases
    [job] = json.loads(shown(out, "fio-json"))["jobs"]
    latency = phase["by_kind"]["fdatasync"]["latency_us"]
    assert job["sync"]["total_ios"] == job["sync"]["lat_ns"]["N"] == latency["count"] == phase["ops"]
    for key, name in (("min", "min"), ("max", "max"), ("mean", "mean"), ("stddev", "stddev")):
        assert job["sync"]["lat_ns"][key] == pytest.approx(latency[name] * 1e3, abs=1), key
    percentiles = job["sync"]["lat_ns"]["percentile"]
    for key, name in (("50.000000", "p50"), ("90.000000", "p90"), ("95.000000", "p95"), ("99.000000", "p99"), ("99.900000", "p99_9"), ("99.990000", "p99_99")):
        assert percentiles[key] == pytest.approx(latency[name] * 1e3, abs=1), key
    theirs = subprocess.run(["fio", "--name=a", "--ioengine=sync", "--fdatasync=1", "--fallocate=none", "--rw=write", "--bs=2300", "--size=23000",
                             f"--directory={tmp_path}", "--output-format=json"], check=True, capture_output=True, text=True, timeout=60).stdout
    [of_fio] = json.loads(theirs)["jobs"]
    order = list(of_fio)
    assert order.index("sync") == order.index("trim") + 1 and list(job).index("sync") == list(job).index("trim") + 1
    assert list(of_fio["sync"]) == list(job["sync"]) and list(of_fio["sync"]["lat_ns"]) == list(job["sync"]["lat_ns"])
    assert set(percentiles) <= set(of_fio["sync"]["lat_ns"]["percentile"])


# --------------------------------------------------------------------------------------------------------------- IOR

def test_the_summary_of_ior_has_27_fields_over_the_repetitions(result):
    text = shown(SAVED, "ior")
    head, *rows = text.split("Summary of all tests:\n")[1].splitlines()
    assert head.split()[:5] == ["Operation", "Max(MiB)", "Min(MiB)", "Mean(MiB)", "StdDev"] and len(head.split()) == 27
    rows = [row.split() for row in rows if row.split()[0] in ("write", "read")]
    phases = {name: of for name, of in phases_of(result).items() if not of[0]["metadata"]}
    assert len(rows) == len(phases)
    for row, of in zip(rows, phases.values()):
        assert len(row) == 27 and row[0] == ("read" if of[0]["operation"] in READS else "write")
        mib = over([phase["headline"]["bytes_per_s"] / 2**20 for phase in of])
        ops = over([phase["headline"]["ops_per_s"] for phase in of])
        assert [float(field) for field in row[1:9]] == pytest.approx([*mib, *ops], abs=0.006)
        assert row[13:17] == [str(of[0]["lane_count"]), str(of[0]["lane_count"]), str(len(of)), "1"]
        assert row[22:24] == [str(of[0]["bytes_per_lane"]), str(of[0]["record_bytes"])]
    best = max(phase["headline"]["bytes_per_s"] for of in phases.values() for phase in of if phase["operation"] in READS)
    assert float(re.search(r"^Max Read: +([\d.]+) MiB/sec \([\d.]+ MB/sec\)$", text, re.M)[1]) == pytest.approx(best / 2**20,
                                                                                                         abs=0.006)
    results = re.findall(r"^(?:write|read) +(?:[\d.]+ +){9}(\d+) *$", text, re.M)
    assert len(results) == sum(len(of) for of in phases.values())


# ------------------------------------------------------------------------------------------------------------ mdtest

def test_the_summary_of_mdtest_has_the_rates_of_names(result):
    text = shown(SAVED, "mdtest")
    repetitions = result["run"]["plan"]["repetitions"]
    assert f"SUMMARY rate: (of {repetitions} iterations)\n" in text
    rows = {title.strip(): [float(each) for each in figures.split()]
            for title, figures in re.findall(r"^   ([A-Z][a-z ]+?) *: ((?: *[\d.]+){4})$", text, re.M)}
    phases = phases_of(result)
    for title, operation in (("File creation", "create"), ("File stat", "stat")):
        assert rows.pop(title) == pytest.approx(over([phase["headline"]["ops_per_s"] for phase in phases[operation]]), abs=6e-4)
    assert list(rows) == ["Directory creation", "Directory stat", "Directory removal", "File read", "File removal",
                          "Tree creation", "Tree removal"]
    assert all(figures == [0, 0, 0, 0] for figures in rows.values()), "what was not run"


# ------------------------------------------------------------------------------------------------------------ Bonnie

def test_the_table_of_the_first_bonnie(result):
    lines = shown(SAVED, "bonnie-1").splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[2] == "Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU"
    row = lines[3]
    write = next(phase for phase in result["phases"] if phase["operation"] == "write")
    read = next(phase for phase in result["phases"] if phase["operation"] == "read")
    lanes = write["lane_count"] // result["run"]["worker_count"]        # sizes are those of one worker
    assert int(row[9:13]) == write["bytes_per_lane"] * lanes // 2**20
    figures = row[13:].split()
    assert figures[::2] == [str(round(phase["headline"]["bytes_per_s"] / 1024)) for phase in (write, read)], row


@pytest.mark.parametrize("name, options, words", [
    ("fio-json", "--op create --items 4", "-i or --op"), ("ior", "--op create --items 4", "-i 0 and -i 1"),
    ("mdtest", "-i 0 -s 64k -r 64k", "--suite metadata"), ("bonnie-1", "--op create --items 4", "--suite bonnie")])
def test_a_run_that_a_format_has_no_place_for_says_what_to_run(name, options, words, path, out):
    program.run(options.split(), path=path, out=out).expect(0)
    refused = program.plain("report", out, "--format", name)
    assert refused.code != 0 and words in refused.stderr, refused
