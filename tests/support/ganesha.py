"""Runs nfs-ganesha for a test on its own ports of 127.0.0.1, without any service or file of the host."""
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import program
import pytest

SHIM = Path(__file__).with_name("ganesha_shim.c")
CONFIG = """
NFS_CORE_PARAM {{
  NFS_Port = {nfs_port};
  MNT_Port = {mount_port};
  Bind_addr = 127.0.0.1;
  Protocols = 3;
  Enable_NLM = false;
  Enable_RQUOTA = false;
  Enable_UDP = false;
}}
NFSV4 {{ Graceless = true; RecoveryRoot = "{state}"; }}
EXPORT {{
  Export_Id = 1;
  Path = "{export}";
  Pseudo = "/export";
  Access_Type = RW;
  Squash = No_Root_Squash;
  SecType = sys;
  Transports = TCP;
  Protocols = 3;
  FSAL {{ Name = VFS; }}
}}
LOG {{ Default_Log_Level = EVENT; }}
"""


def need():
    """For root, as in CI, ganesha must come up, or the test fails. Other users cannot run it: the test is skipped."""
    if os.geteuid() != 0:
        pytest.skip("ganesha opens files by their handles, which only root may")


class Ganesha:
    """Exports `directory`, by default an empty one of its own. At the end of `with`, it ends and removes what it made."""

    def __init__(self, directory=None, megabytes=None):
        """`megabytes`: the export is a tmpfs of this size, which only ganesha sees."""
        self.megabytes = megabytes
        self.work = Path(tempfile.mkdtemp(prefix="iobench-ganesha-", dir="/var/tmp"))
        self.export = Path(directory) if directory else self.work / "export"
        self.export.mkdir(exist_ok=True)
        self.log = self.work / "log"
        self.nfs_port, self.mount_port = program.free_port(), program.free_port()
        self.process = None

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        assert shutil.which("ganesha.nfsd"), "nfs-ganesha is not installed (deploy/lib_packages.sh)"
        shim = self.work / "ganesha_shim.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, SHIM], check=True)
        config = self.work / "ganesha.conf"
        (self.work / "state").mkdir()
        config.write_text(CONFIG.format(nfs_port=self.nfs_port, mount_port=self.mount_port, export=self.export,
                                    state=self.work / "state"))
        command = ["ganesha.nfsd", "-F", "-f", config, "-p", self.work / "pid", "-L", self.log]
        if self.megabytes is not None:
            mount = f'mount -t tmpfs -o size={self.megabytes}m none "$0" && exec env LD_PRELOAD={shim} "$@"'
            command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mount, self.export, *command]
            shim = ""
        self.process = subprocess.Popen(
            command, env={**os.environ, "LD_PRELOAD": str(shim)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while "NFS SERVER INITIALIZED" not in self.log_text():
            assert self.process.poll() is None, f"ganesha ended with {self.process.returncode}:\n{self.log_text()}"
            assert time.monotonic() < deadline, f"ganesha does not come up:\n{self.log_text()}"
            time.sleep(0.05)
        assert "No export entries found" not in self.log_text(), (
            f"ganesha exports nothing. Does a line of /proc/self/mounts cover {self.export}? In a chroot, its root must be "
            f"a mount point.\n{self.log_text()}")

    def __exit__(self, *_):
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.work, ignore_errors=True)

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    # ---- for an export that only ganesha sees

    def _inside(self):
        return Path(f"/proc/{self.process.pid}/root{self.export}")

    def data_names(self):
        data = self._inside() / "cluster-iobench.data"
        return sorted(file.name for file in data.iterdir()) if data.exists() else []

    def fill(self):
        """Uses up all space that is left, as another user might."""
        with open(self._inside() / "filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(bytes(4096))

    # ----

    def url(self, below="", **arguments):
        """The URL of the export, or of a directory in it."""
        ports = {"nfsport": self.nfs_port, "mountport": self.mount_port, **arguments}
        path = f"{self.export}/{below}".rstrip("/")
        return f"nfs://127.0.0.1{path}?" + "&".join(f"{name}={value}" for name, value in ports.items())

    def freeze(self):
        """Makes it keep its connections but answer nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)
