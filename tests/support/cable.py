"""Two hosts on this machine, joined by a cable that can be pulled: network namespaces of their own, and a name for the far one.

Their only common network is the cable, so real connections break as they do between machines. Needs root.
"""
import os
import pathlib
import subprocess

import namespaces

NEAR, FAR = "10.79.0.1", "10.79.0.2"


class Cable:
    def __init__(self, scratch):
        """`scratch`: a directory for the remote shell of mpirun."""
        self.ends = []
        try:
            self.near = self._end("exec sleep infinity")
            self.far = self._end("hostname far && exec sleep infinity")
            # The near end's address is on a bridge, so that a pulled cable takes no address or route away.
            self._ip("near", "link add bridge type bridge", f"addr add {NEAR}/24 dev bridge", "link set bridge up",
                     f"link add cable type veth peer name cable netns {self.far.pid}", "link set cable master bridge up",
                     "link set lo up")
            self._ip("far", f"addr add {FAR}/24 dev cable", "link set cable up", "link set lo up")
        except BaseException:
            self.close()
            raise
        self.shell = pathlib.Path(scratch) / "shell"
        # Takes the host's name and a command, like ssh.
        self.shell.write_text(f'#!/bin/sh\nshift\nexec {" ".join(self.at("far"))} sh -c "$*"\n')
        self.shell.chmod(0o755)

    def _end(self, command):
        process = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c", command], stdin=subprocess.DEVNULL)
        self.ends.append(process)
        ours = os.stat("/proc/self/ns/net").st_ino
        while os.stat(f"/proc/{process.pid}/ns/net").st_ino == ours:
            assert process.poll() is None, "no network namespace: this needs root"
        return process

    def _ip(self, end, *commands):
        for command in commands:
            subprocess.run([*self.at(end), "ip", *command.split()], check=True)

    def at(self, end):
        """The words in front of a command that runs at this end, "near" or "far"."""
        return namespaces.entering({"near": self.near, "far": self.far}[end].pid, "net", "uts")

    def mpirun_options(self):
        """The options of an mpirun at the near end; the far one is the host "far"."""
        network = f"{NEAR}/24"
        settings = {"btl": "tcp,self", "btl_tcp_if_include": network, "oob_tcp_if_include": network,
                    "plm_rsh_agent": str(self.shell)}
        return [word for name, value in settings.items() for word in ("--mca", name, value)]

    def pull(self):
        self._ip("near", "link set cable down")

    def plug(self):
        self._ip("near", "link set cable up")

    def close(self):
        for end in self.ends:
            end.kill()
            end.wait()
