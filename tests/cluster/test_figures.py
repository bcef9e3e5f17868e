"""Figures that only a whole run can show count the right ops, lanes and file systems."""
import os
import subprocess

import program
import pytest
from report_checks import lanes_of


@pytest.mark.parametrize("engine", ["posix", "uring"])
def test_an_op_that_is_not_due_at_the_end_is_not_issued(engine, path, out):
    """Two ops a second for 1.25 s are due at 0, 0.5 and 1 s, the fourth one at 1.5 s."""
    outcome = program.run(["-i", "1", "-+n", "-t", "2", "-r", "4k", "-s", "64k", "--engine", engine, "-+O", "2",
                           "--time", "1.25"], path=path, out=out).expect(0)
    phase = outcome.phase("read")
    for lane in lanes_of(phase):
        assert 1 <= lane["ops"] <= 3, lane
        assert lane["end_s"] >= 1.2, "it waited until the end, and that is its time"
    assert "pace_missed" not in {mark["code"] for mark in phase["marks"]}


def test_an_overlay_on_tmpfs_is_memory(tmp_path, out):
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        (pytest.fail if os.geteuid() == 0 else pytest.skip)("needs a mount namespace")
    base = tmp_path / "base"
    base.mkdir()
    mounts = ('mount -t tmpfs none "$0" && cd "$0" && mkdir lower upper work merged && '
              'mount -t overlay overlay -o lowerdir="$0"/lower,upperdir="$0"/upper,workdir="$0"/work merged && '
              'exec "$@"')
    outcome = program.run(["-i", "0", "-+n", "-t", "1", "-r", "4k", "-s", "64k"], path=base / "merged", out=out,
                          prefix=["unshare", "--mount", "sh", "-c", mounts, str(base)]).expect(0)
    mark = next(mark for mark in outcome.phase("write")["marks"] if mark["code"] == "memory_fs")
    assert "merged (overlay)" in mark["text"]
