"""Loads as applications make them, on an NFS mount: each a small script with its own rate, to be observed and replayed.

    python3 application_loads.py LOAD DIRECTORY SECONDS

Prints READY when its files are there, and ends after SECONDS. It runs on a client of the lab, with Python's library alone.
"""

import os
import pathlib
import random
import sys
import time

RATE_PER_S = 6  # rounds; each makes a few calls
KIB = 1024


def write_file(path, size, sync=False):
    with open(path, "wb", buffering=0) as file:
        file.write(b"x" * size)
        if sync:
            os.fsync(file.fileno())


class MailSpool:
    """A message is written under a temporary name, made durable, delivered by renaming, and an old one is removed."""

    def prepare(self, root):
        self.root = root
        for number in range(50):
            write_file(root / f"mail-{number}", 2 * KIB)

    def round(self, number):
        write_file(self.root / "tmp", 2 * KIB, sync=True)
        os.rename(self.root / "tmp", self.root / f"mail-{number + 50}")
        os.unlink(self.root / f"mail-{number}")


class Build:
    """Sources are looked at and some are read; objects are removed and written anew."""

    def prepare(self, root):
        self.root = root
        for number in range(400):
            write_file(root / f"source-{number}.c", 4 * KIB)
        for number in range(200):
            write_file(root / f"object-{number}.o", 8 * KIB)

    def round(self, number):
        for each in range(3):
            os.stat(self.root / f"source-{(7 * number + each) % 400}.c")
        with open(self.root / f"source-{number % 400}.c", "rb") as file:
            file.read()
        os.unlink(self.root / f"object-{number % 200}.o")
        write_file(self.root / f"object-{number % 200}.o", 8 * KIB)


class Home:
    """A document is saved as editors do it, others are looked at, a directory is listed, modes change."""

    def prepare(self, root):
        self.root = root
        for number in range(300):
            write_file(root / f"document-{number}", 4 * KIB)
        for folder in range(20):
            (root / f"folder-{folder}").mkdir()
            for number in range(20):
                write_file(root / f"folder-{folder}" / f"note-{number}", 0)

    def round(self, number):
        write_file(self.root / "new", 4 * KIB)
        os.rename(self.root / "new", self.root / f"document-{number % 300}")
        os.stat(self.root / f"document-{(number + 150) % 300}")
        if number % 2 == 0:
            os.chmod(self.root / f"document-{(number + 100) % 300}", 0o640 if number % 4 == 0 else 0o600)
        os.listdir(self.root / f"folder-{number % 20}")


class _OneFile:
    FILE_BYTES = 4 * 1024 * KIB

    def prepare(self, root):
        write_file(root / "image", self.FILE_BYTES, sync=True)
        self.image = os.open(root / "image", os.O_RDWR | os.O_DIRECT)
        import mmap  # for memory that O_DIRECT accepts
        self.memory = mmap.mmap(-1, 64 * KIB)

    def place(self, size):
        return random.randrange(self.FILE_BYTES // size) * size

    def read(self, size):
        os.preadv(self.image, [memoryview(self.memory)[:size]], self.place(size))

    def write(self, size, sync=False):
        os.pwritev(self.image, [memoryview(self.memory)[:size]], self.place(size))
        if sync:
            os.fsync(self.image)


class VirtualMachine(_OneFile):
    """A disk image: random reads of 4 KiB and 64 KiB, random writes of 4 KiB, some of them flushed."""

    def round(self, number):
        self.read(4 * KIB)
        self.read(64 * KIB)
        self.write(4 * KIB, sync=number % 3 == 0)


class Database(_OneFile):
    """Pages of 8 KiB are read and written at random, and a log grows by 16 KiB, flushed each time."""

    def prepare(self, root):
        super().prepare(root)
        self.log = os.open(root / "log", os.O_CREAT | os.O_WRONLY | os.O_DIRECT)
        self.log_bytes = 0

    def round(self, number):
        self.read(8 * KIB)
        self.read(8 * KIB)
        self.write(8 * KIB)
        os.pwritev(self.log, [memoryview(self.memory)[:16 * KIB]], self.log_bytes)
        self.log_bytes += 16 * KIB
        os.fsync(self.log)


LOADS = {"mail": MailSpool, "build": Build, "home": Home, "vm": VirtualMachine, "database": Database}


def main(name, directory, seconds):
    load = LOADS[name]()
    load.prepare(pathlib.Path(directory))
    time.sleep(5)  # what was made is remembered for 3 s
    print("READY", flush=True)
    begin_s = time.monotonic()
    for number in range(int(float(seconds) * RATE_PER_S)):
        time.sleep(max(0.0, begin_s + number / RATE_PER_S - time.monotonic()))
        load.round(number)


if __name__ == "__main__":
    main(*sys.argv[1:])
