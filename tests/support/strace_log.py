"""Reads the system calls on data files from an strace log: per thread, in order."""
import dataclasses
import os
import re
from typing import Optional

CALLS = ("openat,read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,pwritev2,fsync,fdatasync,"
         "sync_file_range,close,ftruncate,fallocate,lseek,unlinkat,unlink,fadvise64,fcntl,mmap,munmap,msync,madvise")
READS, WRITES = ("read", "pread64", "preadv"), ("write", "pwrite64", "pwritev")


def prefix(log, *more):
    """Words to put before the program's command. -y names the file behind each descriptor."""
    return ("strace", "-f", "-y", "-s", "0", "-qq", "-e", "signal=none", "-e", f"trace={CALLS}", "-o", str(log), *more)


@dataclasses.dataclass
class Call:
    name: str
    thread: int
    file: str                    # last part of the path
    result: int
    offset: Optional[int] = None   # where data were moved; for read() and write(), the file position
    length: int = 0
    flags: tuple = ()            # of openat; the words of fcntl, msync and the like
    records: int = 1             # of preadv and pwritev

    @property
    def moves(self):
        return self.name in READS + WRITES


LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?(?:0x)?[0-9a-f]+)")
UNFINISHED = re.compile(r"^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>(.*)$")


def joined(lines):
    """The lines, with each call that another thread interrupted in the log joined into one line, where it ended."""
    pending = {}
    for line in lines:
        if unfinished := UNFINISHED.match(line):
            thread, name, arguments = unfinished.groups()
            pending[thread] = f"{thread} {name}({arguments}"
        elif resumed := RESUMED.match(line):
            thread, _, rest = resumed.groups()
            yield pending.pop(thread) + rest
        else:
            yield line


def read(log, directory):
    """Calls on files directly in `directory`, its manifest left out. Calls that failed are included (result < 0)."""
    calls, positions, maps = [], {}, []
    inside = re.escape(os.path.realpath(directory)) + r"/([^/>\"]+)"
    opened = re.compile(rf"<{inside}>$")
    used = re.compile(rf"^(\d+)<{inside}>(?:, (.*))?$")
    mapped = re.compile(rf"<{inside}>, (?:0x)?[0-9a-f]+$")
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in joined(text.rstrip("\n") for text in lines):
            match = LINE.match(line)
            if not match:
                continue
            thread, name, arguments, result = int(match[1]), match[2], match[3], int(match[4], 0)
            words = tuple(re.findall(r"\b(?:F|MS|MADV|POSIX_FADV|MAP|PROT)_[A-Z_]+", arguments))
            if name == "mmap":
                if (target := mapped.search(arguments)) and result >= 0:
                    length = int(arguments.split(", ")[1])
                    maps.append((result, length, target[1]))
                    calls.append(Call(name, thread, target[1], result, length=length, flags=words))
                continue
            if name in ("munmap", "msync", "madvise"):
                address, length = (int(text, 0) for text in arguments.split(", ")[:2])
                for begin, size, file in maps:
                    if begin <= address < begin + size:
                        calls.append(Call(name, thread, file, result, offset=address - begin, length=length, flags=words))
                        break
                if name == "munmap":
                    maps = [one for one in maps if not address <= one[0] < address + length]
                continue
            if name == "openat":
                target = opened.search(line)
                if target and result >= 0:
                    positions[thread, result] = 0  # each lane has its own descriptors
                    flags = re.search(r'", ([A-Z_|]+)', arguments)[1].split("|")
                    calls.append(Call(name, thread, target[1], result, flags=tuple(flags)))
                continue
            target = used.match(arguments)
            if not target:
                continue
            descriptor, rest = int(target[1]), (target[3] or "").split(", ")
            call = Call(name, thread, target[2], result, flags=words)
            if name == "fcntl" and (lock := re.search(r"l_start=(\d+), l_len=(\d+)", arguments)):
                call.offset, call.length = int(lock[1]), int(lock[2])
            if name in ("preadv", "pwritev"):
                call.records, call.length, call.offset = int(rest[-2]), result, int(rest[-1])
            elif name in ("pread64", "pwrite64"):
                call.length, call.offset = int(rest[-2]), int(rest[-1])
            elif name in ("read", "write"):
                call.length, call.offset = int(rest[-1]), positions.get((thread, descriptor), 0)     # with -P, openat is not shown
                positions[thread, descriptor] = call.offset + max(result, 0)
            elif name == "lseek":
                positions[thread, descriptor] = result
            calls.append(call)
    return [call for call in calls if not call.file.startswith("manifest")]


def by_thread(calls):
    threads = {}
    for call in calls:
        threads.setdefault(call.thread, []).append(call)
    return threads


def lanes(calls):
    """Per file: the calls of the thread that moved its data."""
    result = {}
    for calls_of_one in by_thread(calls).values():
        for file in sorted({call.file for call in calls_of_one if call.moves}):
            assert file not in result, f"{file} was moved by two threads"
            result[file] = [call for call in calls_of_one if call.file == file]
    assert result, "no call moved data"
    return result


def story(calls):
    """"openat write fsync close": repeated calls appear once. Seeks and hints belong to the call after them, and are left out."""
    words = []
    for call in calls:
        if call.name in ("lseek", "fadvise64", "madvise") or (call.name == "fcntl" and "F_GETFL" in call.flags):
            continue
        if not words or words[-1] != call.name:
            words.append(call.name)
    return words
