"""Threads are started in one place, which knows what to do when the system refuses."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
HELPER = {ROOT / "common" / "process" / "thread.h"}
# An object that starts a thread: std::thread(…), name(…) of that type with arguments, or an element of a vector of them.
STARTS = re.compile(r"std::(?:jthread|async|launch)\b|std::thread\s*[({]|std::thread\s+\w+\s*[({]|threads\w*\.emplace_back|"
                    r"\bpthread_create\b|\bthrd_create\b")


def sources():
    return [file for folder in ("common", "worker", "coordinator") for file in (ROOT / folder).rglob("*.[ch]*")
            if file.suffix in (".h", ".cc")]


def test_no_other_source_starts_a_thread():
    found = [f"{file.relative_to(ROOT)}:{number}: {line.strip()}" for file in sources() if file not in HELPER
             for number, line in enumerate(file.read_text().splitlines(), 1) if STARTS.search(line.split("//")[0])]
    assert not found, "start threads with StartThread or DoConcurrently (common/process/thread.h):\n" + "\n".join(found)


def test_the_helper_is_found_by_the_pattern():
    assert all(STARTS.search(file.read_text()) for file in HELPER)
