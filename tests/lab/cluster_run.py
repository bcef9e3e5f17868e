"""Runs cluster-iobench with a worker on each client of the lab; keeps its report and the counters of all hosts."""

import concurrent.futures
import json
import subprocess

import lab as nfs_lab

PORT = 9400
# A busy machine makes these runs ten times slower; this only ends a hang.
PATIENCE_S = 150
MAX_RUNS = 5


class Outcome:
    """A finished run. phases: by name; server, clients: nfs_counters.Counters of the traffic that it caused."""

    def __init__(self, out, server, clients):
        self.result = json.loads((out / "result.json").read_text())
        self.phases = {phase["name"]: phase for phase in self.result["phases"]}
        self.server, self.clients = server, clients
        self._out = out

    @property
    def printed(self):
        """The console report with all details, made again from raw data."""
        return subprocess.run([nfs_lab.binary(), "report", self._out, "--verbose"], capture_output=True, text=True, check=True).stdout

    def marks(self, phase_name):
        return {mark["code"] for mark in self.phases[phase_name]["marks"]}

    def started_at_once(self):
        return all(phase["start"]["attempts"] == 1 for phase in self.result["phases"])


def mpi_command(lab, options):
    """mpirun outside, a rank on each client; rank 0, and so the coordinator, on the first."""
    network = ["btl", "tcp,self"], ["btl_tcp_if_include", "10.77.0.0/24"]
    launch = ["oob_tcp_if_include", "10.77.0.0/24"], ["plm_rsh_no_tree_spawn", "1"]
    agent = ["plm_rsh_agent", " ".join(lab.ssh_words("")[:-1])]
    settings = [word for setting in (*network, *launch, agent) for word in ("--mca", *setting)]
    hosts = ",".join(f"{client}:1" for client in lab.clients)
    where = ["--host", hosts, "-np", str(len(lab.clients)), "--bind-to", "none", "--wdir", "/"]
    program = [nfs_lab.binary(), "run", *options]
    return ["mpirun", "--allow-run-as-root", *settings, *where, *program]


def over_mpi(lab, options):
    lab.run_outside(mpi_command(lab, options), timeout=PATIENCE_S)


def in_one_line(*texts):
    """What was printed, without the line breaks that the width asks for."""
    return " ".join(" ".join(texts).split())


def start_over_grpc(lab, command, options, worker="--root /", workers_per_client=1):
    """Starts the coordinator outside, and on each client a worker with these options that dials in. Returns both."""
    address = f"{nfs_lab.OUTSIDE}:{PORT}"
    count = workers_per_client * len(lab.clients)
    program = nfs_lab.binary()
    coordinator = lab.start_outside(
        [program, command, "--listen", address, "--workers", str(count), "--insecure", *options])
    join = f"exec {program} worker --join {address} --insecure --join-timeout 60 --slots {workers_per_client} {worker}"
    return coordinator, [lab.start(client, join) for client in lab.clients]


def over_grpc(lab, options, allow="remount,drop-caches,log-files", command="run"):
    """The coordinator outside; a worker on each client dials in."""
    coordinator, workers = start_over_grpc(lab, command, options, f"--root / --root nfs://10.77.0.1/ --allow {allow}")
    lab.finish(coordinator, timeout=PATIENCE_S, check=True)
    for worker in workers:
        lab.finish(worker, check=True)


def with_sampler(lab, path, out, words, clients=None, samplers=1, server_path=None, rights=""):
    """A worker on each of these clients (default: all), a sampler on the server, the coordinator outside. Returns result.json.

    samplers: with 0, nothing samples the server. server_path: the server also measures this directory of its own. rights: of
    the sampler, without a server_path.
    """
    address = f"{nfs_lab.OUTSIDE}:{PORT}"
    program = nfs_lab.binary()
    clients = clients or lab.clients
    listen = ["--listen", address, "--workers", str(len(clients)), "--insecure"]
    if samplers:
        listen += ["--samplers", str(samplers), "--sample-interval", "0.05"]
    if server_path:
        listen += ["--server-path", server_path]
    coordinator = lab.start_outside([program, "run", *listen, "--path", path, "--out", str(out), *words.split()])
    join = f"exec {program} worker --join {address} --insecure --join-timeout 60"
    helpers = [lab.start(client, f"{join} --root / --allow drop-caches") for client in clients]
    if samplers:
        measures = f"--server-workers {len(clients)} --root {server_path} --allow drop-caches" if server_path else rights
        helpers.append(lab.start(nfs_lab.SERVER, f"{join} --sampler {measures}"))
    lab.finish(coordinator, timeout=PATIENCE_S, check=True)
    for helper in helpers:
        lab.finish(helper, check=True)
    return json.loads((out / "result.json").read_text())


TRANSPORTS = {"mpi": over_mpi, "grpc": over_grpc}


def on_time(run_once):
    """Calls run_once until all phases of its Outcome started at the first attempt, and returns that Outcome.

    The program repeats a start that a busy machine made late. Lanes that had begun then do their work twice, and the
    exact counts and times of such a run mean nothing.
    """
    for _ in range(MAX_RUNS):
        outcome = run_once()
        if outcome.started_at_once():
            return outcome
    raise nfs_lab.LabError(f"none of {MAX_RUNS} runs started all its phases on time")


class Cluster:
    """The lab as one test uses it: an NFS version, a directory, a place for results."""

    def __init__(self, lab, version, nfs_dir, out_dir):
        self.lab, self.version, self.nfs_dir = lab, version, nfs_dir
        self._out_dir, self._run_count = out_dir, 0

    def run(self, text, transport="grpc", cold=False, lanes=1):
        """Runs with the options in `text` until all phases start on time, and returns that run's Outcome.

        cold: no client has anything cached when it begins.
        """
        return on_time(lambda: self.run_once(text, transport, cold, lanes))

    def run_once(self, text, transport="grpc", cold=False, lanes=1):
        """Like run(), but a phase may have started late: a test that acts during the run repeats both with on_time()."""
        self._run_count += 1
        for client in self.lab.clients if cold else []:
            self.lab.run(client, "sync; echo 3 >/proc/sys/vm/drop_caches")
        out = self._out_dir / f"out-{self._run_count}"
        before = self._counters()
        target = ["--path", self.nfs_dir, "--out", str(out)]
        TRANSPORTS[transport](self.lab, [*target, "-t", str(lanes), *text.split()])
        after = self._counters()
        clients = {name: after[name] - before[name] for name in self.lab.clients}
        return Outcome(out, after[nfs_lab.SERVER] - before[nfs_lab.SERVER], clients)

    def files(self):
        """Names in the directory as the server has them."""
        exported = f"{nfs_lab.EXPORT}/{self.nfs_dir.rsplit('/', 1)[1]}"
        return self.lab.run(nfs_lab.SERVER, f"ls -A {exported}").stdout.split()

    def _counters(self):
        """The counters of all hosts, read at the same time."""
        lab = self.lab
        with concurrent.futures.ThreadPoolExecutor() as pool:
            server = pool.submit(lab.server_counters)
            clients = {name: pool.submit(lab.client_counters, name, self.version) for name in lab.clients}
            return {nfs_lab.SERVER: server.result(), **{name: asked.result() for name, asked in clients.items()}}
