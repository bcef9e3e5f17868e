"""Starts cluster-iobench with one worker on each client of the lab, and holds what it reported."""

import json

import lab as nfs_lab

PORT = 9400


class Outcome:
    """A finished run: result.json and what was printed."""

    def __init__(self, finished, out):
        self.finished, self.out = finished, out
        self.result = json.loads((out / "result.json").read_text())
        self.phases = {phase["name"]: phase for phase in self.result["phases"]}

    def marks(self, phase_name):
        return {mark["code"] for mark in self.phases[phase_name]["marks"]}


def over_mpi(lab, out, options):
    """mpirun outside, a rank on each client; rank 0, and with it the coordinator, on the first."""
    network = ["btl", "tcp,self"], ["btl_tcp_if_include", "10.77.0.0/24"]
    launch = ["oob_tcp_if_include", "10.77.0.0/24"], ["plm_rsh_no_tree_spawn", "1"]
    agent = ["plm_rsh_agent", " ".join(lab.ssh_words("")[:-1])]
    settings = [word for setting in (*network, *launch, agent) for word in ("--mca", *setting)]
    hosts = ",".join(f"{client}:1" for client in lab.clients)
    where = ["--host", hosts, "-np", str(len(lab.clients)), "--bind-to", "none", "--wdir", "/"]
    program = [nfs_lab.binary(), "run", "--out", str(out), *options]
    command = ["mpirun", "--allow-run-as-root", *settings, *where, *program]
    return Outcome(lab.run_outside(command, timeout=90), out)


def over_grpc(lab, out, options):
    """The coordinator outside; a worker on each client dials in."""
    address = f"{nfs_lab.OUTSIDE}:{PORT}"
    listen = ["--listen", address, "--workers", str(len(lab.clients)), "--insecure"]
    program = nfs_lab.binary()
    coordinator = lab.start_outside([program, "run", *listen, "--out", str(out), *options])
    join = f"exec {program} worker --join {address} --join-timeout 60"
    workers = [lab.start(client, join) for client in lab.clients]
    finished = lab.finish(coordinator, timeout=90, check=True)
    for worker in workers:
        lab.finish(worker, timeout=30, check=True)
    return Outcome(finished, out)


TRANSPORTS = {"mpi": over_mpi, "grpc": over_grpc}
