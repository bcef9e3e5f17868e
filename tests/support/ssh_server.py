"""An OpenSSH server on loopback with keys and settings of its own, for tests that start workers over ssh."""
import getpass
import os
import pathlib
import socket
import subprocess
import time

import program

SSHD = "/usr/sbin/sshd"


class SshServer:
    """Serves this user, who logs in with a key made for the test. Nothing of the user's own ssh is read or written."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.port = program.free_port()
        self.log = self.directory / "sshd.log"
        self.config = self.directory / "ssh_config"
        self.cache = self.directory / "cache"        # ~/.cache of those who log in
        for key in ("host_key", "user_key", "other_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.directory / key], check=True)
        (self.directory / "authorized_keys").write_text((self.directory / "user_key.pub").read_text())
        (self.directory / "known_hosts").write_text("known " + (self.directory / "host_key.pub").read_text())
        (self.directory / "sshd_config").write_text(f"""
            ListenAddress 127.0.0.1
            Port {self.port}
            HostKey {self.directory}/host_key
            AuthorizedKeysFile {self.directory}/authorized_keys
            PidFile none
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            PermitRootLogin prohibit-password
            MaxStartups 200
            LogLevel VERBOSE
            SetEnv XDG_CACHE_HOME={self.cache}
            """)
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)     # required by sshd of root
        self.process = None

    def write_client_config(self, **hosts):
        """hosts: name -> more lines for it. The host `denied` has only the keys that its lines name."""
        special = "".join(f"Host {name}\n{lines}\n" for name, lines in hosts.items())
        self.config.write_text(f"""{special}
            Host *
            HostName 127.0.0.1
            HostKeyAlias known
            Port {self.port}
            User {getpass.getuser()}
            IdentitiesOnly yes
            IdentityAgent none
            UserKnownHostsFile {self.directory}/known_hosts
            GlobalKnownHostsFile none
            StrictHostKeyChecking yes
            Host * !denied
            IdentityFile {self.directory}/user_key
            """)

    @property
    def launcher(self):
        return f"ssh -F {self.config}"

    def logins(self):
        return self.log.read_text().count("Accepted publickey")

    def __enter__(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", self.directory / "sshd_config"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + program.PATIENCE_S
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
