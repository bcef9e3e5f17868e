"""A Slurm cluster on this machine: slurmctld and a slurmd per node, with munge, configuration and sockets of their own."""

import os
import pathlib
import shutil
import socket
import subprocess
import time

import program

NODES = ("node1", "node2")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={base}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={base}/state
SlurmdSpoolDir={base}/spool-%n
SlurmctldPidFile={base}/slurmctld.pid
SlurmdPidFile={base}/slurmd-%n.pid
SlurmctldLogFile={base}/slurmctld.log
SlurmdLogFile={base}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
MpiDefault=none
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_min_interval=1
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """A context manager. `environment` is what Slurm's commands need to find this cluster."""

    def __init__(self, base):
        self.base = pathlib.Path(base)
        self.processes = []
        self.environment = dict(os.environ, SLURM_CONF=str(self.base / "slurm.conf"))

    def __enter__(self):
        (self.base / "state").mkdir(parents=True)
        self._start_munge()
        ctld_port, *ports = (program.free_port() for _ in range(1 + len(NODES)))
        nodes = "\n".join(f"NodeName={name} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} CPUs=2 State=UNKNOWN"
                          for name, port in zip(NODES, ports))
        configuration = CONFIGURATION.format(host=socket.gethostname(), ctld_port=ctld_port, base=self.base, nodes=nodes)
        (self.base / "slurm.conf").write_text(configuration)
        self._start("slurmctld", "-D", "-c", "-f", self.base / "slurm.conf")
        for name in NODES:
            (self.base / f"spool-{name}").mkdir()
            # Nodes on one machine would share PMIx's directory of temporary files.
            own = self.base / name
            (own / "pmix").mkdir(parents=True)
            (own / "slurm.conf").write_text(configuration)
            (own / "mpi.conf").write_text(f"PMIxCliTmpDirBase={own}/pmix\n")
            self._start("slurmd", "-D", "-N", name, "-f", own / "slurm.conf")
        self._wait_for(self._idle, "all nodes are idle")
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def run(self, *command, cwd, timeout=120, **environment):
        return subprocess.run([str(word) for word in command], cwd=cwd, timeout=timeout, text=True,
                              capture_output=True, env={**self.environment, **environment})

    def logs(self):
        return "\n".join(f"{file.name}:\n{file.read_text(errors='replace')[-3000:]}" for file in self.base.glob("*.log"))

    def _start(self, *command):
        log = (self.base / f"{command[0]}-{len(self.processes)}.out.log").open("w")
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        self.processes.append(subprocess.Popen([shutil.which(command[0], path=path), *map(str, command[1:])], stdout=log,
                                               stderr=log, env=self.environment, start_new_session=True))

    def _start_munge(self):
        key = self.base / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.base.chmod(0o755)
        self._start("munged", "--foreground", "--force", f"--socket={self.base}/munge.socket", f"--key-file={key}",
                    f"--pid-file={self.base}/munged.pid", f"--seed-file={self.base}/munged.seed", f"--log-file={self.base}/munged.log")
        self._wait_for(lambda: (self.base / "munge.socket").exists(), "munge listens")

    def _idle(self):
        states = self.run("sinfo", "-h", "-N", "-o", "%T", cwd=self.base).stdout.split()
        return states == ["idle"] * len(NODES)

    def _wait_for(self, condition, what):
        for _ in range(300):
            if condition():
                return
            time.sleep(0.1)
        raise AssertionError(f"not within 30 s: {what}\n{self.logs()}")
