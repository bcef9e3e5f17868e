"""File systems of which no counter tells where reads came from: here hostfs, through which a lab host sees the machine's files."""

import json

import lab as nfs_lab


def marks_of(lab, path, out, words):
    program = [nfs_lab.binary(), "--path", str(path), "--out", str(out), *words.split()]
    done = lab.run(lab.clients[0], program, check=False)
    result = json.loads((out / "result.json").read_text())
    assert result["clients"][0]["targets"][0]["filesystem"] == "hostfs"
    return done, {phase["name"]: {mark["code"] for mark in phase["marks"]} for phase in result["phases"]}


def test_reads_that_may_come_from_memory_are_marked_and_decide_nothing(lab, tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    files = "-i 0 -i 1 -+n -r 64k -s 4m -t 1 --require read>=1B/s"
    done, marks = marks_of(lab, target, tmp_path / "read back", files)
    assert "maybe_cached" in marks["read"] and "maybe_cached" not in marks["write"], marks
    assert done.returncode == 4 and "maybe_cached" in done.stdout, done.stdout
    _, marks = marks_of(lab, target, tmp_path / "dropped", files + " --drop-caches")
    assert "maybe_cached" not in marks["read"], marks
    _, marks = marks_of(lab, target, tmp_path / "names", "--op create --op stat --op unlink --items 200 -t 1")
    assert {name for name, codes in marks.items() if "maybe_cached" in codes} == {"stat"}, marks
