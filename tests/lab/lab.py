"""A real NFS cluster on one machine, of User-Mode Linux hosts: a kernel NFS server and its clients.

    with NfsLab(log_dir) as lab:
        lab.run("client-11", "ls /mnt/nfs")          # on a host
        lab.run_outside(["ip", "route"])             # on the machine, inside the lab's network

Each host has its own kernel, clock, page cache and address, and the machine's files, so a binary
built here is simply there. A system call costs tens of microseconds on a host: the lab proves
behaviour, never speed.
Everything runs in network, mount and pid namespaces that end with this process, however it ends:
see namespace_init.sh. Nothing touches the machine's own network.
"""

import concurrent.futures
import contextlib
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import nfs_counters
import processes
from tick_keeper import TickKeeper

SOURCE_DIR = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(SOURCE_DIR.parent / "support"))

import namespaces  # noqa: E402

OUTSIDE = "10.77.0.254"
SERVER = "server"
MOUNT_POINTS = {"4.2": "/mnt/nfs", "3": "/mnt/nfs3"}  # by NFS version, of one and the same export
EXPORT = "/mnt/export"  # on the server
SCRATCH = "/mnt/lab"  # in the namespaces
CLEAN_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"
BOOT_LIMIT_S = 90

# Command -> the Debian package that has it.
NEEDED_COMMANDS = {
    "linux.uml": "user-mode-linux",
    "rpc.nfsd": "nfs-kernel-server",
    "mount.nfs": "nfs-common",
    "rpcbind": "rpcbind",
    "modprobe": "kmod",
    "sshd": "openssh-server",
    "ssh": "openssh-client",
    "ip": "iproute2",
    "tc": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "python3": "python3",
    "gcc": "gcc",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.vfat": "dosfstools",
    "mkfs.xfs": "xfsprogs",
    "setfattr": "attr",
}


class LabError(Exception):
    """The lab cannot do what was asked. The text names the reason."""


class CommandFailed(LabError):
    """A command in the lab ended with a code other than 0, or did not end in time (code None)."""

    def __init__(self, where, command, code, out, err):
        self.code, self.out, self.err = code, out, err
        how = "did not end in time" if code is None else f"ended with {code}"
        said = f"--- stdout\n{out[-4000:]}\n--- stderr\n{err[-4000:]}"
        super().__init__(f"{where}: {command}\n{how}\n{said}")


def binary():
    """The program under test: $CLUSTER_IOBENCH, else the newest in build/* of the source tree."""
    named = os.environ.get("CLUSTER_IOBENCH")
    built = SOURCE_DIR.parents[1].glob("build/*/cluster-iobench")
    found = [pathlib.Path(named)] if named else list(built)
    found = [path.resolve() for path in found if path.is_file() and os.access(path, os.X_OK)]
    if not found:
        where = named or "build/*/cluster-iobench"
        raise LabError(f"no program to test: {where} is not there; build it or set CLUSTER_IOBENCH")
    return str(max(found, key=lambda path: path.stat().st_mtime))


def require_commands(needed):
    """Raises LabError, which names what to install, if a command is missing. needed: the package of each command."""
    missing = {package for command, package in needed.items() if shutil.which(command, path=CLEAN_PATH) is None}
    if missing:
        names = " ".join(sorted(missing))
        raise LabError(f"the lab needs packages that are missing: apt-get install {names}")


class Host:
    """One User-Mode Linux host: its process and its console."""

    def __init__(self, name, number, log_path):
        self.name, self.number, self.log_path = name, number, log_path
        self.address = f"10.77.0.{number}"
        self.role = "server" if name == SERVER else "client"
        self.process = None

    def await_console(self, word, deadline):
        """Waits until a line of the console starts with `word`.

        Raises LabError when the host ends or the deadline (time.monotonic) passes first.
        """
        while True:
            ended = self.process.poll() is not None
            lines = self.log_path.read_text(errors="replace").splitlines()
            if any(line.startswith(word) for line in lines):
                return
            if ended or time.monotonic() > deadline:
                how = "ended" if ended else "hangs"
                reason = [line for line in lines if line.startswith(("FAILED", "Kernel panic"))]
                tail = "\n".join(reason + ["..."] + lines[-30:])
                raise LabError(f"{self.name} {how} before {word}: {tail}\nconsole: {self.log_path}")
            time.sleep(0.02)

    def kill(self):
        if self.process is not None:
            processes.kill(self.process)
            self.process = None


def new_log_directory(parent=None):
    """A directory for one lab's logs, in `parent` or in the system's directory for temporary files. Labs run concurrently,
    and one that passes removes its directory, so each has its own."""
    if parent:
        os.makedirs(parent, exist_ok=True)
    return pathlib.Path(tempfile.mkdtemp(prefix="cluster-iobench-lab-", dir=parent or None))


class NfsLab:
    """The server and its clients, from boot to tear-down; a context manager.

    log_dir gets the consoles and a record of every command; the caller keeps or removes it.
    disk_mb: size of an ext4 image in log_dir that the server exports; its files survive power_cut()
    and boot(SERVER). With 0 the server exports a tmpfs of its own.
    shims: C files beside this one; the libraries made of them are preloaded into the hosts' kernels.
    """

    def __init__(self, log_dir, client_count=2, disk_mb=0, memory_mb=512, shims=("xstate_shim",)):
        self.log_dir = pathlib.Path(log_dir).resolve()
        self.clients = [f"client-{11 + index}" for index in range(client_count)]
        numbers = {SERVER: 1, **{name: 11 + index for index, name in enumerate(self.clients)}}
        self.hosts = {
            name: Host(name, number, self.log_dir / f"{name}.log")
            for name, number in numbers.items()
        }
        self.boot_s = None
        self._disk = self.log_dir / "server.ext4" if disk_mb else None
        self._disk_mb, self._memory_mb = disk_mb, memory_mb
        self._shims = shims
        self._keeper = None  # process 1 of the namespaces is its child
        self._ticks = None
        self._started = []

    def __enter__(self):
        try:
            self.up()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *_):
        self.down()

    # Up and down

    def up(self):
        begin = time.monotonic()
        self._check_machine()
        self.log_dir.mkdir(parents=True, exist_ok=True)
        self._enter_namespaces()
        self._ticks = TickKeeper()
        server, *clients = self.hosts.values()
        self._start(server)
        for index, client in enumerate(clients):
            if index > 0:  # clients' clocks must not begin at the same moment by chance
                clients[index - 1].await_console("Linux version", begin + BOOT_LIMIT_S)
            self._start(client)
        with concurrent.futures.ThreadPoolExecutor(len(self.hosts)) as pool:
            list(pool.map(self._await_ready, self.hosts.values()))
        self.boot_s = time.monotonic() - begin

    def down(self):
        """Kills everything that runs in the lab. May be called twice."""
        for process in self._started:
            processes.kill(process)
        self._started.clear()
        if self._ticks is not None:
            self._ticks.stop()
            self._ticks = None
        for host in self.hosts.values():
            host.kill()
        if self._keeper is not None:
            self._keeper.stdin.close()  # ends process 1, and with it everything else
            self._keeper.wait(timeout=30)
            self._keeper.stdout.close()
            self._keeper = None

    def power_cut(self, name):
        """Ends a host abruptly, whatever it does."""
        self._ticks.let_go(name)
        self.hosts[name].kill()
        self.run_outside([*self.ssh_words(name), "-O", "exit"], check=False)

    def boot(self, name):
        """Starts a host again after power_cut(). A client needs the server to be up."""
        self._start(self.hosts[name])
        self._await_ready(self.hosts[name])

    @contextlib.contextmanager
    def frozen(self, name):
        """While this lasts, a host does nothing, as if it hung."""
        kernel = processes.program_of(self.hosts[name].process)
        os.kill(kernel, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(kernel, signal.SIGCONT)

    def _check_machine(self):
        if os.geteuid() != 0:
            raise LabError("the lab makes namespaces and tap devices: run it as root")
        require_commands(NEEDED_COMMANDS)
        if not os.path.exists("/dev/net/tun"):
            raise LabError("no /dev/net/tun (a container needs --privileged --device /dev/net/tun)")
        if SOURCE_DIR.is_relative_to("/mnt"):
            raise LabError(f"the lab hides /mnt, and {SOURCE_DIR} with it: move the sources")

    def _enter_namespaces(self):
        memory_mb = 2 * self._memory_mb * len(self.hosts)  # linux.uml adds up to 512 MB to each
        names = [f"{host.name}={host.address}" for host in self.hosts.values()]
        log_path = self.log_dir / "namespace.log"
        with open(log_path, "w") as log:
            self._keeper = subprocess.Popen(
                ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
                + ["bash", str(SOURCE_DIR / "namespace_init.sh"), str(memory_mb), *names],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # so that Ctrl-C reaches only us, and we end it in order
                env=self._environment(),
            )
        if self._keeper.stdout.readline() != "READY\n":
            reason = log_path.read_text().strip()
            hint = "a container needs --privileged, a chroot must be a mount point"
            raise LabError(f"no namespaces for the lab: {reason} ({hint})")
        flags = ["-O2", "-Wall", "-Werror", "-shared", "-fPIC"]
        for shim in self._shims:
            made = f"/proc/{self._keeper.pid}/root{SCRATCH}/{shim}.so"
            subprocess.run(["gcc", *flags, "-o", made, SOURCE_DIR / f"{shim}.c"], check=True)
        if self._disk is not None:
            make = ["mkfs.ext4", "-q", "-F", "-O", "quota", self._disk, f"{self._disk_mb}m"]
            subprocess.run(make, check=True, env=self._environment())

    def _start(self, host):
        disk = [f"ubd0={self._disk}"] if self._disk and host.role == "server" else []
        network = f"tap,ifname=tap{host.number},mac=02:00:0a:4d:00:{host.number:02x},depth=64,gro=1"
        preload = " ".join(f"{SCRATCH}/{shim}.so" for shim in self._shims)
        with open(host.log_path, "wb") as log:
            host.process = self._spawn(
                ["env", f"LD_PRELOAD={preload}", "TMPDIR=/dev/shm", "linux.uml"]
                + [f"uml_dir={SCRATCH}/uml/", f"umid={host.name}-{time.monotonic_ns()}"]
                + [f"mem={self._memory_mb}M", f"vec0:transport={network}", *disk]
                + ["con=null", "con0=fd:0,fd:1"]
                + ["rootfstype=hostfs", "rootflags=/", "rw", f"init={SOURCE_DIR}/host_init.sh"]
                + [f"role={host.role}", f"name={host.name}", f"addr={host.address}"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def _await_ready(self, host):
        """Waits until the host serves or has mounted, and its shared ssh connection is up.

        Over that connection, a command costs one fork on the host, not a key exchange.
        """
        deadline = time.monotonic() + BOOT_LIMIT_S
        host.await_console("LAB", deadline)
        log_path = self.log_dir / f"{host.name}.ssh.log"
        while True:
            connect = [*self.ssh_words(host.name), "-MNf"]
            with open(log_path, "w") as log:
                ssh = self._spawn(connect, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            if ssh.wait() == 0:
                break
            if host.process.poll() is not None or time.monotonic() > deadline:
                host.await_console("READY", 0)  # the host's own reason, if it has one
                raise LabError(f"no ssh to {host.name}: {log_path.read_text().strip()}")
            time.sleep(0.05)
        host.await_console("READY", deadline)
        self._ticks.keep(host.name, processes.program_of(host.process))

    # Commands

    def run(self, host, command, timeout=60, check=True):
        """Runs a shell line, or a list of words, on a host and returns its CompletedProcess (text).

        Raises CommandFailed on a code other than 0 unless `check` is False, and after `timeout` seconds.
        """
        line = command if isinstance(command, str) else shlex.join(command)
        process = self._start_piped([*self.ssh_words(host), line], stdin=subprocess.DEVNULL)
        return self._finish(process, f"{host}: {line}", timeout, check)

    def run_outside(self, command, timeout=60, check=True, env=None):
        """Runs a list of words on the machine inside the lab's namespaces; otherwise like run()."""
        process = self._start_piped(command, env, stdin=subprocess.DEVNULL)
        return self._finish(process, f"outside: {shlex.join(command)}", timeout, check)

    def start(self, host, command):
        """Starts a shell line on a host and returns a Popen with text pipes. End it with finish()."""
        return self.start_outside([*self.ssh_words(host), command])

    def start_outside(self, command, env=None):
        """Starts a list of words on the machine inside the lab's namespaces; like start()."""
        self._started.append(self._start_piped(command, env, stdin=subprocess.PIPE))
        return self._started[-1]

    def finish(self, process, timeout=60, check=False):
        """Closes the input of a started command and waits for its end, like run()."""
        self._started.remove(process)
        return self._finish(process, f"started: {shlex.join(process.args)}", timeout, check)

    def ssh_words(self, host):
        """The words that, put before a shell line and run outside, run it on a host."""
        return ["ssh", "-F", f"{SCRATCH}/ssh_config", host]

    @contextlib.contextmanager
    def limit_to(self, host, bytes_per_s):
        """While this lasts, at most `bytes_per_s` reach the host over the network."""
        tap = f"tap{self.hosts[host].number}"
        shape = ["rate", f"{bytes_per_s * 8}bit", "burst", "64k", "latency", "2s"]
        self.run_outside(["tc", "qdisc", "add", "dev", tap, "root", "tbf", *shape])
        try:
            yield
        finally:
            self.run_outside(["tc", "qdisc", "del", "dev", tap, "root"])

    # What server and clients count

    def server_counters(self):
        return nfs_counters.parse_nfsd(self.run(SERVER, "cat /proc/net/rpc/nfsd").stdout)

    def client_counters(self, client, version):
        mounts = self.run(client, "cat /proc/self/mountstats").stdout
        return nfs_counters.parse_mountstats(mounts, MOUNT_POINTS[version])

    def network_inode(self):
        """Names the lab's network namespace, for processes.pids_in_network()."""
        return os.stat(f"/proc/{self._keeper.pid}/ns/net").st_ino

    # Inside

    def _environment(self, more=None):
        scratch = {"HOME": f"{SCRATCH}/home", "TMPDIR": f"{SCRATCH}/tmp"}
        passed = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")
        sanitizers = {name: os.environ[name] for name in passed if name in os.environ}
        return {"PATH": CLEAN_PATH, "LANG": "C.UTF-8", **scratch, **sanitizers, **(more or {})}

    def _spawn(self, command, env=None, **options):
        return subprocess.Popen(
            [*namespaces.entering(self._keeper.pid, "net", "mount", "pid"), *command],
            start_new_session=True,
            env=self._environment(env),
            **options,
        )

    def _start_piped(self, command, env=None, **options):
        pipe = subprocess.PIPE
        return self._spawn(command, env, stdout=pipe, stderr=pipe, text=True, **options)

    def _finish(self, process, shown, timeout, check):
        begin = time.monotonic()
        try:
            out, err = process.communicate(timeout=timeout)
            code = process.returncode
        except subprocess.TimeoutExpired:
            out, err = processes.kill_and_read(process)
            code = None
        except BaseException:
            processes.kill(process)
            raise
        with open(self.log_dir / "commands.log", "a") as log:
            log.write(f"=== {shown}\n({time.monotonic() - begin:.2f} s, code {code})\n{out}")
            if err:
                log.write(f"--- stderr\n{err}")
        if code is None or (check and code != 0):
            raise CommandFailed(*shown.split(": ", 1), code, out, err)
        return subprocess.CompletedProcess(shown, code, out, err)
