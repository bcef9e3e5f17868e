"""Reads the counters of an NFS server and its clients, independently of the program under test."""

import dataclasses

# Positions after the count that begins each line: RFC 1813 procedures, and NFSv4 operations (RFC 7862).
_V3_PROCEDURES = {"READ": 6, "WRITE": 7, "COMMIT": 21, "GETATTR": 1, "LOOKUP": 3, "REMOVE": 12, "RENAME": 14}
_V4_OPERATIONS = {"READ": 25, "WRITE": 38, "COMMIT": 5, "GETATTR": 9, "LOOKUP": 15, "REMOVE": 28, "RENAME": 29}


@dataclasses.dataclass(frozen=True)
class Counters:
    """File bytes that crossed the network, and requests by kind. The difference of two is again a Counters."""

    read_bytes: int
    write_bytes: int
    requests: dict

    def __sub__(self, before):
        kinds = set(self.requests) | set(before.requests)
        return Counters(
            self.read_bytes - before.read_bytes,
            self.write_bytes - before.write_bytes,
            {kind: self.requests.get(kind, 0) - before.requests.get(kind, 0) for kind in kinds},
        )


def parse_nfsd(text):
    """Counters of a kernel NFS server from /proc/net/rpc/nfsd, NFSv3 and NFSv4 added."""
    lines = {}
    for fields in filter(None, map(str.split, text.splitlines())):
        lines[fields[0]] = [int(field) for field in fields[1:] if field.isdigit()]
    for needed in ("io", "proc3", "proc4ops"):
        if needed not in lines:
            raise ValueError(f"/proc/net/rpc/nfsd has no line '{needed}'")
    v3, v4 = lines["proc3"][1:], lines["proc4ops"][1:]
    requests = {}
    for kind in _V3_PROCEDURES:
        requests[kind] = v3[_V3_PROCEDURES[kind]] + v4[_V4_OPERATIONS[kind]]
    read_bytes, write_bytes = lines["io"][:2]
    return Counters(read_bytes, write_bytes, requests)


def parse_mountstats(text, mount_point):
    """Counters of one NFS mount, as its client sees them, from /proc/self/mountstats."""
    in_section, requests, byte_counts = False, {}, None
    for line in text.splitlines():
        fields = line.split()
        if line.startswith("device "):
            in_section = fields[4] == mount_point
        elif in_section and fields and fields[0] == "bytes:":
            byte_counts = [int(field) for field in fields[1:]]
        elif in_section and len(fields) >= 9 and fields[0].endswith(":") and fields[0].isupper():
            requests[fields[0][:-1]] = int(fields[1])
    if byte_counts is None:
        raise ValueError(f"/proc/self/mountstats has no NFS mount at {mount_point}")
    return Counters(byte_counts[4], byte_counts[5], requests)
