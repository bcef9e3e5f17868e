"""The files in deploy/ name only options that exist, and are valid for the tools that read them."""

import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

import program

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
WITH_COMMAND_LINES = [*MANIFESTS, DEPLOY / "systemd" / "cluster-iobench-worker.service", *sorted((DEPLOY / "slurm").iterdir()),
                      DEPLOY / "make-certificates.sh"]
UNIT = DEPLOY / "systemd" / "cluster-iobench-worker.service"
# Options of srun and sbatch in the batch scripts.
OF_OTHERS = {"--mpi", "--nodes", "--ntasks-per-node", "--exclusive", "--job-name", "--output", "--help"}


def run(*command, **more):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=120, **more)


@pytest.fixture(scope="module")
def options():
    text = "".join(program.plain(command, "--help").expect(0).stdout for command in ("run", "worker"))
    return set(re.findall(r"--[a-z][a-z0-9-]+", text))


@pytest.mark.parametrize("file", WITH_COMMAND_LINES, ids=lambda file: file.name)
def test_each_option_in_a_command_line_exists(file, options):
    used = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", file.read_text())) - OF_OTHERS
    assert used <= options, f"unknown: {sorted(used - options)}"


def test_systemd_accepts_the_unit_and_finds_little_exposed(tmp_path):
    installed = tmp_path / UNIT.name     # the program need not be installed where the unit expects it
    installed.write_text(UNIT.read_text().replace("/usr/bin/cluster-iobench", program.BINARY))
    verified = run("systemd-analyze", "verify", "--man=no", installed)
    assert verified.returncode == 0 and not verified.stderr, verified.stderr
    security = run("systemd-analyze", "security", "--offline=yes", "--threshold=20", installed)
    assert security.returncode == 0, security.stdout


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda file: file.name)
def test_each_manifest_is_yaml_with_a_kind(manifest):
    for document in yaml.safe_load_all(manifest.read_text()):
        assert document["apiVersion"] and document["kind"]


def test_the_manifests_fit_together():
    documents = {(each["kind"], each["metadata"]["name"]): each
                 for file in MANIFESTS if file.name not in ("kustomization.yaml", "mpijob.yaml")
                 for each in yaml.safe_load_all(file.read_text())}
    listed = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == sorted(file.name for file in MANIFESTS if file.name not in ("kustomization.yaml", "mpijob.yaml"))
    (worker,) = documents["StatefulSet", "worker"]["spec"]["template"]["spec"]["containers"]
    host, port = worker["args"][worker["args"].index("--join") + 1].split(":")
    assert documents["Service", host]["spec"]["ports"][0]["port"] == int(port)
    job = documents["Job", "run"]["spec"]["template"]
    assert documents["Service", host]["spec"]["selector"].items() <= job["metadata"]["labels"].items()
    assert f"--listen :{port} " in job["spec"]["containers"][0]["args"][0]
    for pod in (documents["StatefulSet", "worker"]["spec"]["template"]["spec"], job["spec"]):
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
        mounted = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}


def play(tmp_path, *settings):
    words = [word for each in ("become_root=false", "manage_service=false", f"etc={tmp_path}/etc", *settings) for word in ("-e", each)]
    ended = run("ansible-playbook", "-i", "localhost,", "-c", "local", DEPLOY / "ansible" / "workers.yaml", *words,
                env={**program.clean_environment(), "ANSIBLE_NOCOLOR": "1", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"})
    return ended.returncode, ended.stdout


def test_the_playbook_writes_the_settings_once_and_removes_them(tmp_path):
    token = tmp_path / "token"
    token.write_text("a token of the test\n")
    settings = ("coordinator=coord:9400", "root=/mnt/nfs", f"token={token}")
    code, said = play(tmp_path, *settings)
    assert code == 0 and "changed=3" in said, said
    assert (tmp_path / "etc" / "worker.env").read_text() == "COORDINATOR=coord:9400\nROOT=/mnt/nfs\n"
    assert (tmp_path / "etc" / "token").read_text() == token.read_text()
    assert (tmp_path / "etc" / "token").stat().st_mode & 0o777 == 0o600
    code, said = play(tmp_path, *settings)
    assert code == 0 and "changed=0" in said, said
    code, said = play(tmp_path, "coordinator=coord:9400")
    assert code == 2 and "Give coordinator=HOST:PORT" in said
    code, said = play(tmp_path, "state=absent")
    assert code == 0 and not (tmp_path / "etc").exists(), said


@pytest.mark.parametrize("script", [*sorted((DEPLOY / "slurm").iterdir()), DEPLOY / "make-certificates.sh"], ids=lambda file: file.name)
def test_each_script_is_valid_bash(script):
    assert shutil.which("bash") and run("bash", "-n", script).returncode == 0
