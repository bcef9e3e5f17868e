"""The tables of outcomes in docs/faults.md, which tests fill. IOBENCH_UPDATE_GOLDEN=1 writes what a test has seen.

tests/structure compares their rows with what is tested, so that no row outlives its test.
"""
import os
import pathlib

DOCS = pathlib.Path(__file__).parents[2] / "docs" / "faults.md"
# What tests/faults does to each transport, in the order of the table.
FAULTS = ("worker killed", "worker stopped", "connection cut for a while", "connection cut for good", "hung lane", "EIO",
          "ESTALE", "slow lane", "coordinator killed", "coordinator stopped for a while", "coordinator stopped for good",
          "results disk full")
TRANSPORTS = ("spawn", "tcp", "mpi")
# What tests/lab does, and over which transport.
LAB_FAULTS = (
    ("server hangs for 4 s", "tcp"),
    ("server hangs for 12 s while files are opened", "tcp"),
    ("server hangs for 12 s, soft mounts of NFSv3", "tcp"),
    ("server hangs for good", "tcp"),
    ("server hangs, then Ctrl-C", "tcp"),
    ("server loses power and boots", "tcp"),
    ("server loses power and boots", "mpi"),
    ("client loses power", "tcp"),
    ("client loses power", "mpi"),
    ("client without network for 15 s", "tcp"),
    ("client without network for 15 s", "mpi"),
    ("client without network", "tcp"),
    ("client without network", "mpi"),
)


def possible(fault, transport):
    """A Unix socket has no connection that could be cut."""
    return transport != "spawn" or not fault.startswith("connection cut")


class Table:
    def __init__(self, place, columns, keys):
        """`place`: the folder of its tests. `keys`: the first cells of each row, in order."""
        self.begin, self.end = f"<!-- table of {place}: begin -->\n", f"<!-- table of {place}: end -->\n"
        self.head = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
        self.keys = [(key,) if isinstance(key, str) else tuple(key) for key in keys]

    def _parts(self):
        head, rest = DOCS.read_text().split(self.begin)
        table, tail = rest.split(self.end)
        return head, table, tail

    def rows(self):
        """The rows in the docs: their keys and the other cells."""
        width = len(self.keys[0])
        cells = [tuple(cell.strip() for cell in line.strip("|\n").split(" | ")) for line in self._parts()[1].splitlines()[2:]]
        return {row[:width]: row[width:] for row in cells}

    def check(self, key, *cells):
        """Writes the other cells of a row, or compares them with the docs."""
        key = (key,) if isinstance(key, str) else tuple(key)
        cells = tuple(str(cell) for cell in cells)
        if not os.environ.get("IOBENCH_UPDATE_GOLDEN"):
            assert self.rows().get(key) == cells, (key, cells)
            return
        rows = {**self.rows(), key: cells}
        head, _, tail = self._parts()
        ordered = [f"| {' | '.join((*each, *rows[each]))} |\n" for each in self.keys if each in rows]
        DOCS.write_text(head + self.begin + self.head + "".join(ordered) + self.end + tail)


MATRIX = Table("tests/faults", ("fault", *TRANSPORTS), FAULTS)
LAB = Table("tests/lab", ("fault", "transport", "exit code", "saved exit code", "workers lost of 2",
                          "repetitions of 2 that are whole"), LAB_FAULTS)
