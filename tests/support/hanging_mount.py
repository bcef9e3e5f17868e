"""A file system in memory that can hang as a mount does whose server is gone: calls on it wait in the kernel, deaf to
signals that have a handler. For root, with /dev/fuse.

With a mount point as argument, this file is the server (FUSE's protocol 7.31). It hangs while it is stopped (SIGSTOP).
"""
import contextlib
import ctypes
import errno
import os
import pathlib
import signal
import stat
import struct
import subprocess
import sys
import time

LOOKUP, FORGET, GETATTR, SETATTR, READLINK, SYMLINK, MKNOD, MKDIR, UNLINK, RMDIR, RENAME = 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12
OPEN, READ, WRITE, STATFS, RELEASE = 14, 15, 16, 17, 18
FSYNC, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, CREATE, INTERRUPT, BATCH_FORGET, FALLOCATE, RENAME2 \
    = 20, 25, 26, 27, 28, 29, 30, 35, 36, 42, 43, 45
UNANSWERED = (FORGET, BATCH_FORGET, INTERRUPT)
BIG_WRITES = 1 << 5
MAX_WRITE = 128 * 1024
BLOCK = 4096


class Node:
    def __init__(self, number, mode):
        self.number, self.mode = number, mode
        self.uid = self.gid = 0
        self.data, self.names = bytearray(), {}
        self.links = 2 if stat.S_ISDIR(mode) else 1
        self.changed = time.time()

    def attributes(self):
        second, part = divmod(self.changed, 1)
        return struct.pack("<6Q10I", self.number, len(self.data), (len(self.data) + 511) // 512, *[int(second)] * 3,
                           *[int(part * 1e9)] * 3, self.mode, self.links, self.uid, self.gid, 0, BLOCK, 0)


class Server:
    """Nothing is cached, so that each call reaches it."""

    def __init__(self):
        self.nodes = {1: Node(1, stat.S_IFDIR | 0o755)}
        self.newest = 1

    def add(self, parent, name, mode, head):
        if name in parent.names:
            raise OSError(errno.EEXIST, name)
        self.newest += 1
        node = self.nodes[self.newest] = parent.names[name] = Node(self.newest, mode)
        node.uid, node.gid = head
        return node

    @staticmethod
    def entry(node):
        return struct.pack("<4Q2I", node.number, 0, 0, 0, 0, 0) + node.attributes()

    def remove(self, parent, name):
        node = self.find(parent, name)
        if node.names:
            raise OSError(errno.ENOTEMPTY, name)
        node.links -= 1
        del parent.names[name]
        return b""

    @staticmethod
    def find(parent, name):
        if name not in parent.names:
            raise OSError(errno.ENOENT, name)
        return parent.names[name]

    def rename(self, parent, target, names, flags):
        old, new = names
        node = self.find(parent, old)
        if flags & 1 and new in target.names:
            raise OSError(errno.EEXIST, new)
        if new in target.names and target.names[new] is not node:
            self.remove(target, new)
        del parent.names[old]
        target.names[new] = node
        return b""

    def set_attributes(self, node, body):
        valid, _, _, size, _, _, mtime, _, _, nanos, _, mode, _, uid, gid, _ = struct.unpack("<2I6Q8I", body[:88])
        if valid & 1:
            node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)
        node.uid = uid if valid & 2 else node.uid
        node.gid = gid if valid & 4 else node.gid
        if valid & 8:
            self.resize(node, size)
        node.changed = time.time() if not valid & 0x20 or valid & 0x100 else mtime + nanos / 1e9
        return self.answer_attributes(node)

    @staticmethod
    def resize(node, size):
        del node.data[size:]
        node.data.extend(bytes(size - len(node.data)))

    @staticmethod
    def answer_attributes(node):
        return struct.pack("<Q2I", 0, 0, 0) + node.attributes()

    def write(self, node, offset, data):
        self.resize(node, max(offset, len(node.data)))
        node.data[offset:offset + len(data)] = data
        node.changed = time.time()
        return struct.pack("<2I", len(data), 0)

    @staticmethod
    def names_of(node, offset, size):
        listing = b""
        every = [(b".", node), (b"..", node), *node.names.items()]
        for position, (name, child) in list(enumerate(every, 1))[offset:]:
            one = struct.pack("<2Q2I", child.number, position, len(name), child.mode >> 12) + name
            one += bytes(-len(one) % 8)
            if len(listing) + len(one) > size:
                break
            listing += one
        return listing

    def answer(self, opcode, number, owner, body):
        node = self.nodes.get(number)
        names = body.split(b"\0")[:-1]
        if opcode == INIT:
            return struct.pack("<4I2H2I2H8I", 7, 31, MAX_WRITE, BIG_WRITES, 12, 9, MAX_WRITE, 1, 0, 0, *[0] * 8)
        if opcode == LOOKUP:
            return self.entry(self.find(node, names[0]))
        if opcode == GETATTR:
            return self.answer_attributes(node)
        if opcode == SETATTR:
            return self.set_attributes(node, body)
        if opcode == SYMLINK:
            link = self.add(node, names[0], stat.S_IFLNK | 0o777, owner)
            link.data[:] = names[1]
            return self.entry(link)
        if opcode == READLINK:
            return bytes(node.data)
        if opcode == MKNOD:
            return self.entry(self.add(node, body[16:].split(b"\0")[0], struct.unpack("<I", body[:4])[0], owner))
        if opcode == MKDIR:
            mode, umask = struct.unpack("<2I", body[:8])
            return self.entry(self.add(node, body[8:].split(b"\0")[0], stat.S_IFDIR | mode & ~umask, owner))
        if opcode in (UNLINK, RMDIR):
            return self.remove(node, names[0])
        if opcode in (RENAME, RENAME2):
            head = 8 if opcode == RENAME else 16
            target = self.nodes[struct.unpack("<Q", body[:8])[0]]
            flags = 0 if opcode == RENAME else struct.unpack("<I", body[8:12])[0]
            return self.rename(node, target, body[head:].split(b"\0")[:2], flags)
        if opcode in (OPEN, OPENDIR):
            return struct.pack("<Q2I", 0, 0, 0)
        if opcode == CREATE:
            mode, umask = struct.unpack("<2I", body[4:12])
            created = self.add(node, body[16:].split(b"\0")[0], stat.S_IFREG | stat.S_IMODE(mode) & ~umask, owner)
            return self.entry(created) + struct.pack("<Q2I", 0, 0, 0)
        if opcode in (READ, READDIR):
            offset, size = struct.unpack("<QI", body[8:20])
            return self.names_of(node, offset, size) if opcode == READDIR else bytes(node.data[offset:offset + size])
        if opcode == WRITE:
            return self.write(node, struct.unpack("<Q", body[8:16])[0], body[40:])
        if opcode == FALLOCATE:
            offset, length, mode = struct.unpack("<2QI", body[8:28])
            if mode:
                raise OSError(errno.EOPNOTSUPP, "mode")
            self.resize(node, max(len(node.data), offset + length))
            return b""
        if opcode == STATFS:
            return struct.pack("<5Q4I24x", 1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19, BLOCK, 255, BLOCK, 0)
        if opcode in (FSYNC, FLUSH, RELEASE, RELEASEDIR, FSYNCDIR):
            return b""
        raise OSError(errno.ENOSYS, str(opcode))

    def serve(self, device):
        while True:
            try:
                request = os.read(device, MAX_WRITE + 4096)
            except OSError as error:
                if error.errno == errno.ENODEV:  # unmounted
                    return
                if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                    continue
                raise
            _, opcode, unique, number, uid, gid = struct.unpack("<2I2Q2I", request[:32])
            code, data = 0, b""
            try:
                data = self.answer(opcode, number, (uid, gid), request[40:])
            except OSError as error:
                code = -error.errno
            if opcode not in UNANSWERED:
                with contextlib.suppress(FileNotFoundError):  # the caller was killed
                    os.write(device, struct.pack("<IiQ", 16 + len(data), code, unique) + data)


def mount_and_serve(place):
    device = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"hanging", os.fsencode(place), b"fuse.hanging", 0, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    Server().serve(device)


def wait_until(condition, patience_s):
    """Returns whether it became true within this time."""
    end = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def is_possible():
    return os.geteuid() == 0 and os.access("/dev/fuse", os.R_OK | os.W_OK)


class HangingMount:
    """A mounted one, at `place`. Use it in a with statement."""

    def __init__(self, place):
        self.place = pathlib.Path(place)
        self.server = None

    def __enter__(self):
        self.place.mkdir(parents=True, exist_ok=True)
        self.server = subprocess.Popen([sys.executable, __file__, str(self.place)])
        while not os.path.ismount(self.place):
            assert self.server.poll() is None, "the server ended"
            time.sleep(0.01)
        return self

    def hang(self):
        self.server.send_signal(signal.SIGSTOP)

    def answer(self):
        self.server.send_signal(signal.SIGCONT)

    def __exit__(self, *_):
        self.server.kill()  # what waits fails
        self.server.wait()
        subprocess.run(["umount", "-l", str(self.place)], check=True)


if __name__ == "__main__":
    mount_and_serve(sys.argv[1])
