"""Kills processes with all their descendants, and finds those in a network namespace."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

PATIENCE_S = 30  # until a killed process has ended, on a busy machine


def kill(process):
    """Kills a Popen and all its descendants, and reaps it.

    Its process group is not enough: a User-Mode Linux host leaves the group of its parent.
    """
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            after_name = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1]
            children.setdefault(int(after_name.split()[1]), []).append(int(entry))
    doomed = [process.pid] if process.poll() is None else []
    for pid in doomed:
        doomed += children.get(pid, [])
    for pid in doomed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    # A host that boots again needs the network device and disk of its predecessor, whose last process still holds them.
    deadline = time.monotonic() + PATIENCE_S
    while any(map(_lives, doomed)) and time.monotonic() < deadline:
        time.sleep(0.01)


def _lives(pid):
    """Also true for a zombie with threads that have not ended: they keep its files open."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return state not in "ZX" or len(os.listdir(f"/proc/{pid}/task")) > 1
    except OSError:
        return False


def program_of(process):
    """The process id of the program, such as a host's kernel, that `process`, an nsenter, runs."""
    (child,) = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(child)


def kill_and_read(process):
    """Kills a Popen with text pipes and returns its output so far: (stdout, stderr).

    Does not await the ends of its pipes: the ssh connection that commands share holds them open
    while the command still runs on its host.
    """
    kill(process)
    try:
        return process.communicate(timeout=0.5)
    except subprocess.TimeoutExpired as late:
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        return [(said or b"").decode(errors="replace") for said in (late.stdout, late.stderr)]


def pids_in_network(inode):
    """Processes of the machine whose network namespace has this inode number."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{entry}/ns/net").st_ino == inode:
                found.append(int(entry))
    return found
