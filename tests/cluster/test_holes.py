"""Reads of what nobody has written come from nowhere: they are marked, and decide no criterion."""
import json
import os

import program
import pytest

MIB = 1 << 20
READ = "-i 1 -+n -r 64k -s 8m -t 1"


def write_all(file):
    file.write(os.urandom(8 * MIB))


def leave_all(file):
    file.truncate(8 * MIB)


def allocate_all(file):
    os.posix_fallocate(file.fileno(), 0, 8 * MIB)


def write_every_other(file):
    for at in range(0, 8, 2):
        file.seek(at * MIB)
        file.write(os.urandom(MIB))
    file.truncate(8 * MIB)


# name: (how the file is made, percent in holes)
FILES = {
    "written": (write_all, 0),
    "truncated": (leave_all, 100),
    "allocated": (allocate_all, 100),
    "half written": (write_every_other, 50),
}


@pytest.mark.parametrize("direct", ["", "-I"])
@pytest.mark.parametrize("name", list(FILES))
def test_holes_are_marked_and_decide_nothing(name, direct, tmp_path, out):
    make, percent = FILES[name]
    path = tmp_path / "file"
    with open(path, "wb") as file:
        make(file)
        os.fsync(file.fileno())
    options = [*READ.split(), *direct.split(), "--require", "read>=1B/s"]
    outcome = program.plain("--existing", path, *options, "--out", out)
    (read,) = json.loads((out / "result.json").read_text())["phases"]
    marks = [mark for mark in read["marks"] if mark["code"] == "holes"]
    sources = read["read_sources"]
    assert sources["hole_bytes"] == percent * 8 * MIB // 100, sources
    assert [round(mark["value"]) for mark in marks] == ([percent] if percent else []), read["marks"]
    if direct:  # what was not in a hole came from the disk
        assert "cached" not in {mark["code"] for mark in read["marks"]}, read["marks"]
    if percent:
        outcome.expect(4)
        assert "holes" in outcome.stdout
