"""What people read fits the terminal: no line of any command is wider, and none is broken within a word."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import program
import pytest

WIDTHS = (80, 100, 140)
TINY = "-r 4k -s 64k -t 2".split()


class Shown:
    def __init__(self, text, code):
        self.code = code
        # Each state of a line that is rewritten in place, without colors.
        plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r\n", "\n")
        self.lines = [part for line in plain.split("\n") for part in line.split("\r")]

    def text(self):
        return "\n".join(self.lines)


def on_terminal(*arguments, columns, cwd=None, interrupt_after=None):
    """Runs the program with all its output on a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([program.BINARY, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                               env=program.clean_environment(TERM="xterm"), cwd=cwd, start_new_session=True)
    os.close(theirs)
    output, begin = b"", time.monotonic()
    while time.monotonic() - begin < program.PATIENCE_S:
        if interrupt_after is not None and interrupt_after.exists():
            process.send_signal(signal.SIGINT)
            interrupt_after = None
        if not select.select([ours], [], [], 0.1)[0]:
            continue
        try:
            part = os.read(ours, 65536)
        except OSError:  # the last process that had the terminal has ended
            break
        if not part:
            break
        output += part
    os.close(ours)
    return Shown(output.decode("utf-8", "replace"), process.wait(program.PATIENCE_S))


def words_of(text):
    return set(re.findall(r"[A-Za-z]{3,}", text))


def check(shown, columns):
    wide = [line for line in shown.lines if len(line) > columns]
    # Only a word that is longer than a line, such as a path, may be broken.
    assert not wide, "\n".join(wide)


@pytest.fixture(name="runs", scope="module")
def saved_runs(tmp_path_factory):
    """Two runs of three phases, one of repetitions, and a capacity measurement."""
    base = tmp_path_factory.mktemp("runs")
    (base / "d").mkdir()
    for name, options in {"a": "-i 0 -i 1 -i 2", "b": "-i 0 -i 1 -i 2", "repeated": "-i 0 -i 1 --repeat 5",
                          "sweep": "-i 0 -i 1 -r 4k -r 8k -r 16k"}.items():
        program.plain("run", "--path", base / "d", *options.split(), *([] if name == "sweep" else ["-r", "4k"]), "-s", "64k",
                      "-t", "2", "--spawn", "2", "--out", base / name).expect(0)
    program.plain("capacity", "--path", base / "d", "--engine", "sim", "-t", "2", "--time", "0.4", "--warmup", "0.1", "--points", "1",
                  "--slo", "p99<=1s", "--out", base / "capacity")
    return base


def commands(runs):
    """Names and command lines below the directory `runs`."""
    d = runs / "d"
    return {
        "run": ("run", "--path", d, "-i", "0", "-i", "1", *TINY, "--force", "--out", runs / "new"),
        "run in full": ("run", "--path", d, "-i", "0", "-i", "1", *TINY, "--verbose", "--force", "--out", runs / "new"),
        "repetitions": ("run", "--path", d, "-i", "0", "-i", "1", *TINY, "--repeat", "5", "--force", "--out", runs / "new"),
        "soak": ("run", "--path", d, "-i", "0", "-i", "1", *TINY, "--soak", "1s", "--force", "--out", runs / "new"),
        "report": ("report", runs / "a"),
        "report in full": ("report", runs / "a", "--verbose"),
        "report of repetitions": ("report", runs / "repeated"),
        "report of a sweep": ("report", runs / "sweep"),
        "report of a capacity measurement": ("report", runs / "capacity"),
        "compare": ("compare", runs / "a", runs / "b"),
        "repetitions compared": ("compare", runs / "repeated"),
        "maps compared": ("compare", runs / "sweep", runs / "a"),
        "history": ("history", runs / "a", runs / "b"),
        "capacity": ("capacity", "--saved", runs / "capacity"),
        "capacity planned": ("capacity", "--path", d, "-t", "64", "--time", "3", "-s", "64k", "--dry-run", "--slo", "p99<=20ms"),
        "validate": ("validate", "--path", d),
        "validate list": ("validate", "--list"),
        "preflight": ("preflight", "--path", runs / "nowhere", "-i", "0", *TINY, "--spawn", "2"),
        "dry run": ("run", "--path", d, "-i", "0", "-i", "1", *TINY, "--time", "5", "--repeat", "3", "--dry-run"),
        "usage": (), "help": ("run", "--help"), "all options": ("run", "--help", "all"),
        "missing directory": ("run", "--path", runs / "nowhere", "-i", "0", *TINY),
        "unknown option": ("run", "--path", d, "--itemz", "3"),
        "bad size": ("run", "--path", d, "-s", "64MB"),
        "results in the way": ("run", "--path", d, "-i", "0", *TINY, "--out", runs / "a"),
        "no results": ("report", d),
    }


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", commands(__import__("pathlib").Path("/")))
def test_no_line_is_wider_than_the_terminal(name, columns, runs):
    shown = on_terminal(*commands(runs)[name], columns=columns, cwd=runs)
    check(shown, columns)
    assert len(shown.lines) > 1, shown.text()


def test_words_are_whole_at_80_columns(runs):
    """The same words at 80 columns as at 140, up to paths, which may be longer than a line."""
    for name in ("report", "report in full", "compare", "history", "capacity", "report of repetitions"):
        narrow, wide = (on_terminal(*commands(runs)[name], columns=columns, cwd=runs).text() for columns in (80, 140))
        without_paths = [re.sub(r"\S*/\S*", "", text) for text in (narrow, wide)]
        broken = words_of(without_paths[0]) - words_of(without_paths[1])
        assert len(broken) <= 2, (name, broken)


def test_columns_of_the_environment_are_for_pipes_too(runs):
    for columns in WIDTHS:
        lines = program.plain("report", runs / "a", env=program.clean_environment(COLUMNS=str(columns))).expect(0).stdout.splitlines()
        assert max(map(len, lines)) <= columns
    assert max(map(len, program.plain("report", runs / "a").expect(0).stdout.splitlines())) <= 100


def test_repetitions_are_a_few_lines(runs):
    brief = program.plain("report", runs / "repeated").expect(0).stdout
    assert len(brief.splitlines()) < 30, brief
    assert re.search(r"^  write +5 +\S+/s +[\d.,]+ +[\d.,]+ to [\d.,]+", brief, re.M), brief
    full = program.plain("report", runs / "repeated", "--verbose").expect(0).stdout
    assert "write, 5 of 5" in full
