"""Runs validate with a worker on each client of the lab, and reads its report of each check."""

import json
import time

import cluster_run
import processes

PATIENCE_S = 480


class Validation:
    """validate of one directory, which all clients see at `path`."""

    def __init__(self, lab, path, tmp_path):
        self.lab, self.path, self.tmp_path = lab, path, tmp_path

    def options(self, more):
        return ["--path", self.path, "--format", "json", "--output", str(self.tmp_path / "report.json"), *more]

    def checks(self, ended):
        """The checks that ran, by name."""
        report = json.loads((self.tmp_path / "report.json").read_text())
        checks = {check["name"]: check for check in report["checks"]}
        print(json.dumps(checks, indent=1))
        failed = any(check["verdict"] == "fail" for check in checks.values())
        assert ended.returncode == report["exit_code"] == (4 if failed else 0), ended
        return checks

    def validate(self, *more, fault=None, client_fault=None, patience_s=PATIENCE_S):
        """The coordinator is outside; a worker on each client dials in. fault: called while the clients write; client_fault:
        called with the client that holds a lock, whose worker may then fail. patience_s: limit after the fault."""
        lab, hook = self.lab, self.tmp_path / "hook"
        if fault or client_fault:
            hook.mkdir(exist_ok=True)
            option = "--fault-hook" if fault else "--client-hook"
            more += option, f"cd {hook}; echo $IOBENCH_CLIENT >named; mv named called; until [ -e done ]; do sleep 0.1; done"
        coordinator, workers = cluster_run.start_over_grpc(lab, "validate", self.options(more),
                                                           f"--root {self.path} --allow drop-caches")
        named = None
        if fault or client_fault:
            while not (hook / "called").exists():
                assert coordinator.poll() is None, lab.finish(coordinator)
                time.sleep(0.05)
            named = (hook / "called").read_text().strip()
            (hook / "called").unlink()
            fault() if fault else client_fault(named)
            (hook / "done").touch()
        ended = lab.finish(coordinator, timeout=patience_s)
        (hook / "done").unlink(missing_ok=True)
        for client, worker in zip(lab.clients, workers):
            if client == named:
                processes.kill(worker)
            else:
                lab.finish(worker, timeout=PATIENCE_S, check=True)
        return self.checks(ended)

    def validate_over_mpi(self, *more):
        command = cluster_run.mpi_command(self.lab, self.options(more))
        command[command.index("run")] = "validate"
        return self.checks(self.lab.run_outside(command, timeout=PATIENCE_S, check=False))


def verdicts(checks):
    return {name: check["verdict"] for name, check in checks.items()}
