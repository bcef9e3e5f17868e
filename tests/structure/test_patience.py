"""The coordinator makes every call on a file that may hang in one place, which waits with a limit and for Ctrl-C."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOM = pathlib.Path("coordinator/files")
CALLS = ("open openat fopen stat lstat fstatat statfs statvfs mkdir mkdtemp mkstemp mkostemp unlink rmdir rename remove "
         "readlink realpath access opendir chmod chown truncate symlink link utimensat").split()
OF_STANDARD = ("exists is_directory is_regular_file is_empty status symlink_status canonical weakly_canonical create_director "
               "directory_iterator recursive_directory_iterator read_symlink equivalent copy remove rename temp_directory_path "
               "file_size last_write_time space resize_file").split()
# A name of files:: or of an object is another function.
RAW = re.compile(rf"(?<![\w.>:])(?:::)?(?:{'|'.join(CALLS)})\(|(?:filesystem|\bfs)::(?:{'|'.join(OF_STANDARD)})|"
                 r"\b[io]?fstream\b *[({\w]|\bReadSmallFile\(|\bSha256OfFile\(")
# What these call cannot hang, or is only for a process that Ctrl-C ends.
ELSEWHERE = {
    "coordinator/options/shipped_files.cc": "the program's own installation, from which it is running",
    "coordinator/launch/worker_copy.cc": "the program's own installation",
    "coordinator/launch/launcher.cc": "the program's own installation, and a file in memory",
    "coordinator/launch/spawner.cc": "the directory for sockets, which has just answered (MountAnswers)",
    "coordinator/validate/checks/hook_run.cc": "the directory for temporary files, which has just answered (MountAnswers)",
    "coordinator/validate/checks/coherence_checks.cc": "lists of calls, which workers make",
    "coordinator/validate/checks/dead_client_check.cc": "lists of calls, which workers make",
    "coordinator/saved_run/resume_point.cc": "/proc",
    "coordinator/stage/run_on_hosts.cc": "/proc",
    "coordinator/commands/clean_hosts.cc": "/proc",
    "coordinator/saved_run/file_comparison.cc": "report --verify: no signal has a handler",
    "coordinator/saved_run/verify.cc": "report --verify",
    "coordinator/commands/worker_slots.cc": "/proc, in a worker",
}


def raw_calls():
    for file in sorted((ROOT / "coordinator").rglob("*")):
        name = file.relative_to(ROOT)
        if file.suffix not in (".cc", ".h") or ROOM in name.parents:
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            code = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line.split("//")[0])
            if RAW.search(code):
                yield str(name), f"{name}:{number}: {line.strip()}"


def test_no_other_source_calls_the_file_system():
    found = [where for name, where in raw_calls() if name not in ELSEWHERE]
    assert not found, "use coordinator/files/files.h, so that a hung mount cannot hang the coordinator:\n" + "\n".join(found)


def test_the_exceptions_are_needed():
    assert set(ELSEWHERE) == {name for name, _ in raw_calls()} & set(ELSEWHERE)


def test_the_room_is_found_by_the_pattern():
    assert RAW.search((ROOT / ROOM / "file_request.cc").read_text(encoding="utf-8"))
