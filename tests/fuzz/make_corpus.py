"""Regenerates the corpora from real runs: CLUSTER_IOBENCH=build/debug/cluster-iobench tests/fuzz/make_corpus.py

Inputs that fuzzers have found are added by hand; their names begin with "found-".
"""
import os
import pathlib
import subprocess
import sys
import tempfile

BINARY = os.environ["CLUSTER_IOBENCH"]
SEEDS = str(pathlib.Path(BINARY).parent / "tests" / "fuzz_seeds")
CORPUS = pathlib.Path(__file__).with_name("corpus")

PLANS = {
    "iozone": ("-i", "0", "-i", "1", "-i", "2", "-c", "-e", "-r", "64k", "-s", "4m", "-t", "2"),
    "metadata": ("--op", "create", "--op", "stat", "--items", "100", "-t", "1"),
}
HAND_WRITTEN_PLAN = """\
targets: [{path: /mnt/nfs}]
lanes_per_worker: 2
files: &files {bytes_per_lane: 64k, files_per_lane: 2}
data: {verify: true}
phases:
  - name: mix
    assignments:
      - operation: &op {name: write, record_bytes: 4k, between: {ops_per_s: 100}}
        who: {workers: [0]}
      - operation: {<<: *op, name: read}
    stop: {deadline_s: 0.5}
    region: {fsync: true, close: true}
    steps: [{rest: {seconds: 1}}]
"""
HOSTS = {
    "ranges": "rack[1-2]n[01-16,20], user@node7:2222*4 [::1]:22*2",
    "file": "# two hosts\nc1  # the first\nc[2-3]*2\n\n10.0.0.1:22\n",
    "clients": "# client directory program\nc1 /mnt/nfs /usr/bin/cluster-iobench\nc2 /mnt/nfs /usr/bin/cluster-iobench /mnt/b\n",
}
TRACE = "# offset size delay_ms\n0 4096\n4096 4096 0.5\n1099511623680 4096 3600000\n 8192\t512 1e-3\r\n"
# One worker with two lanes each, as worker_event.cc expects.
RUNS = {
    "random-write": ("--op", "random-write", "-r", "64k", "-s", "512k", "-t", "2"),
    "write-read": ("-i", "0", "-i", "1", "-+n", "-r", "64k", "-s", "512k", "-t", "2"),
    "names": ("--op", "create", "--op", "stat", "--items", "50", "-t", "2"),
    "mix": ("-i", "0", "-i", "8", "-+n", "-r", "4k", "-s", "64k", "-t", "2", "-+d"),
}


def write(name, text):
    place = CORPUS / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def main():
    for old in CORPUS.glob("*/*"):
        if not old.name.startswith("found-"):
            old.unlink()
    for name, options in PLANS.items():
        done = subprocess.run([BINARY, *options, "--path", "/mnt/nfs", "--print-plan"], check=True, capture_output=True, text=True)
        write(f"plan_yaml/{name}", done.stdout)
    write("plan_yaml/by-hand", HAND_WRITTEN_PLAN)
    for name, text in HOSTS.items():
        write(f"host_list/{name}", text)
    write("trace/by-hand", TRACE)
    with tempfile.TemporaryDirectory() as place:
        for name, options in RUNS.items():
            target, out = pathlib.Path(place, name), pathlib.Path(place, f"{name}.out")
            target.mkdir()
            trace = ("-X", f"{place}/trace") if name == "random-write" else ()
            subprocess.run([BINARY, "--transport", "local", *options, *trace, "--path", target, "--out", out], check=True,
                           stdout=subprocess.DEVNULL)
            subprocess.run([SEEDS, out, CORPUS, name], check=True)
        for trace in sorted(pathlib.Path(place).glob("trace*")):
            write("trace/recorded", trace.read_text())
            break
    subprocess.run([SEEDS, "--requests", CORPUS], check=True)
    for file in sorted(CORPUS.glob("*/*")):
        print(f"{file.stat().st_size:7} {file.relative_to(CORPUS)}")


if __name__ == "__main__":
    sys.exit(main())
