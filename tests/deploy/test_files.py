"""The files in deploy/ name only options that exist, and are valid for the tools that read them."""

import getpass
import os
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
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]+")
# A command and its lines, in shell, YAML or a comment.
COMMAND_LINE = re.compile(r'(?:(?:cluster-iobench\}?"?|"\$program"|sbatch|options of)[ `,]+|args: \[)(worker\b)?'
                          r"(.*(?:\n[ #]*(?=--|\$).*)*)")
# Options of srun and sbatch in the batch scripts, and of make-certificates.sh itself.
OF_OTHERS = {"--mpi", "--nodes", "--ntasks-per-node", "--exclusive", "--job-name", "--output", "--help", "--no-kill",
             "--no-requeue", "--days", "--worker", "--revoke"}


def run(*command, **more):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=120, **more)


@pytest.fixture(scope="module")
def options():
    """command -> its options, as its help lists them"""
    return {command: set(OPTION.findall(program.plain(command, "--help", "all").expect(0).stdout)) for command in ("run", "worker")}


def command_lines(file):
    """("run" or "worker", its options) of each command line in a file."""
    for found in COMMAND_LINE.finditer(file.read_text()):
        yield found[1] or "run", set(OPTION.findall(found[2])) - OF_OTHERS


@pytest.mark.parametrize("file", WITH_COMMAND_LINES, ids=lambda file: file.name)
def test_each_option_in_a_command_line_exists(file, options):
    # Scripts also have options outside of command lines, as words that they look for or collect.
    used = set(OPTION.findall(file.read_text())) - OF_OTHERS
    known = options["run"] | options["worker"]
    assert used <= known, f"unknown: {sorted(used - known)}"
    for command, used in command_lines(file):
        assert used <= options[command], f"not of {command}: {sorted(used - options[command])}"


def test_command_lines_are_found():
    found = {(command, option) for file in WITH_COMMAND_LINES for command, used in command_lines(file) for option in used}
    assert {("run", "--listen"), ("run", "--tls-key"), ("worker", "--join"), ("worker", "--stay")} <= found, found
    assert {command for command, _ in command_lines(DEPLOY / "slurm" / "grpc.sbatch")} == {"run", "worker"}


def test_systemd_accepts_the_unit_and_finds_little_exposed(tmp_path):
    installed = tmp_path / UNIT.name     # the program need not be installed where the unit expects it
    installed.write_text(UNIT.read_text().replace("/usr/bin/cluster-iobench", program.BINARY))
    verified = run("systemd-analyze", "verify", "--man=no", installed)
    assert verified.returncode == 0 and not verified.stderr, verified.stderr
    security = run("systemd-analyze", "security", "--offline=yes", "--threshold=16", installed)
    assert security.returncode == 0, security.stdout


def calls_in(groups, name):
    """The system calls that a word of SystemCallFilter stands for."""
    return set().union(*(calls_in(groups, member) for member in groups[name])) if name.startswith("@") else {name}


def allowed_calls():
    """The system calls that the unit allows."""
    groups, members, allowed = {}, [], set()
    for line in run("systemd-analyze", "syscall-filter").stdout.splitlines():
        if line and not line[0].isspace():
            members = groups.setdefault(line.strip(), [])
        elif line.strip() and not line.strip().startswith("#"):
            members.append(line.strip())
    for words in re.findall(r"^SystemCallFilter=(.*)$", UNIT.read_text(), re.M):
        named = set().union(*(calls_in(groups, word) for word in words.lstrip("~").split()))
        allowed = allowed - named if words.startswith("~") else allowed | named
    return allowed


def test_the_unit_allows_the_system_calls_of_a_worker():
    allowed = allowed_calls()
    assert not {"chown", "setuid", "setgroups", "mount", "ptrace", "bpf"} & allowed
    assert {"mincore", "fadvise64", "sync_file_range", "syncfs", "fallocate", "openat2", "statx", "memfd_create", "mlock", "unshare",
            "close_range", "sched_setaffinity", "io_uring_setup", "io_uring_enter", "io_uring_register"} <= allowed


# What the unit makes of a host, as far as it can be made without systemd: everything but the worker's directory is read-only,
# other users' processes are hidden, and there are no capabilities.
AS_THE_UNIT = ("unshare", "--mount", "--propagation", "private", "sh", "-c",
               'mount --bind "$1" "$1" && mount -t proc -o hidepid=2 proc /proc && mount -o remount,bind,ro / && shift && '
               'exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all strace -f -qq -e trace=all -e signal=none '
               '-e raw=all -o "$@"', "sh")
OPERATIONS = {
    "posix": ("-i", "0", "-i", "1", "-i", "2", "-i", "3", "-i", "9", "-i", "11", "--verify", "-c", "-e"),
    "uring": ("-i", "0", "-i", "1", "-i", "2", "--engine", "uring", "--depth", "4"),
    "posix-aio": ("-i", "0", "-i", "1", "--engine", "posix-aio", "--depth", "2"),
    "mmap": ("-i", "0", "-i", "1", "--engine", "mmap"),
    "stdio": ("-i", "6", "-i", "7", "--engine", "stdio"),
    "names": tuple(word for name in ("mkdir", "create", "stat", "readdir", "find", "open-close", "chmod", "set-xattr",
                                     "get-xattr", "rename", "link", "symlink", "unlink", "rmdir")
                   for word in ("--op", name)) + ("--items", "20"),
}


@pytest.mark.unsanitized
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount")
@pytest.mark.parametrize("kind", OPERATIONS)
def test_a_worker_does_all_operations_within_the_limits_of_the_unit(kind, path, tmp_path):
    address, log = f"127.0.0.1:{program.free_port()}", path / "calls.strace"
    worker = (*AS_THE_UNIT, str(path), str(log), program.BINARY, "worker", "--join", address, "--join-timeout", "60",
              "--root", str(path / "data"))
    (path / "data").mkdir()
    sizes = () if kind == "names" else ("-r", "4k", "-s", "64k")
    program.run([*OPERATIONS[kind], *sizes, "-t", "2", "--listen", address, "--workers", "1"], path=path / "data",
                out=tmp_path / "out", helpers=(worker,)).expect(0)
    used = set(re.findall(r"^\d+ +(\w+)\(", log.read_text(), re.M))
    assert {"openat2", "fsync"} & used and len(used) > 40, used
    # strace knows only the names of its own time.
    denied = {{"syscall_0x1c4": "fchmodat2"}.get(call, call) for call in used} - allowed_calls()
    assert not denied, denied


def test_the_unit_lets_the_worker_write_where_the_settings_say():
    """The directories of the unit hold the one of the example, and the playbook replaces them by those of its worker."""
    (writable,) = re.findall(r"^ReadWritePaths=(.*)$", UNIT.read_text(), re.M)
    (root,) = re.findall(r"^ROOT=(.*)$", (UNIT.parent / "worker.env").read_text(), re.M)
    assert any(pathlib.PurePath(root).is_relative_to(directory.lstrip("-")) for directory in writable.split())


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


def pods():
    """(name, specification) of the pods of all manifests."""
    for file in MANIFESTS:
        for document in yaml.safe_load_all(file.read_text()):
            spec = document.get("spec", {})
            templates = {"": spec, **spec.get("mpiReplicaSpecs", {})}
            for role, holder in templates.items():
                if "template" in holder:
                    yield f"{document['kind']} {role}".strip(), holder["template"]["spec"]


def test_each_pod_fits_the_policy_of_the_namespace():
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/"""
    namespace = yaml.safe_load((DEPLOY / "kubernetes" / "namespace.yaml").read_text())
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    found = dict(pods())
    assert sorted(found) == ["Job", "MPIJob Launcher", "MPIJob Worker", "StatefulSet"]
    for name, pod in found.items():
        context = pod.get("securityContext", {})
        assert context.get("runAsNonRoot") and context.get("seccompProfile") == {"type": "RuntimeDefault"}, name
        for container in pod["containers"]:
            own = container.get("securityContext", {})
            assert own.get("allowPrivilegeEscalation") is False and own.get("capabilities") == {"drop": ["ALL"]}, name
            assert own.get("readOnlyRootFilesystem") is True, name
        assert pod.get("automountServiceAccountToken") is False, name
        mounted = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}, name


def manifests(*files):
    return [document for file in files or MANIFESTS
            for document in yaml.safe_load_all((DEPLOY / "kubernetes" / file).read_text())]


def policies_of(labels, way):
    """The rules that apply to a pod with these labels; None: nothing keeps it from anything."""
    found = [document["spec"] for document in manifests() if document["kind"] == "NetworkPolicy"]
    found = [spec for spec in found if spec["podSelector"].get("matchLabels", {}).items() <= labels.items()
             and way in spec["policyTypes"]]
    return [rule for spec in found for rule in spec.get(way.lower(), [])] if found else None


def templates():
    """(name, labels) of the pods of all manifests."""
    for document in manifests():
        spec = document.get("spec", {})
        for role, holder in {"": spec, **spec.get("mpiReplicaSpecs", {})}.items():
            if "template" in holder:
                yield f"{document['kind']} {role}".strip(), holder["template"]["metadata"]["labels"]


def test_pods_reach_only_what_a_run_needs():
    labels = dict(templates())
    coordinator, worker = labels["Job"], labels["StatefulSet"]
    names = [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]
    peer = lambda of: [{"podSelector": {"matchLabels": of}}]     # noqa: E731
    join = [{"protocol": "TCP", "port": 9400}]
    assert policies_of(worker, "Ingress") == []
    assert policies_of(coordinator, "Ingress") == [{"from": peer(worker), "ports": join}]
    for name, of in labels.items():
        rules = [rule for rule in policies_of(of, "Egress") if rule["ports" if "ports" in rule else "to"] != names]
        assert all(rule["to"] for rule in policies_of(of, "Egress")), name
        expected = {"Job": [], "StatefulSet": [{"to": peer(coordinator), "ports": join}]}.get(name, [{"to": peer(of)}])
        assert rules == expected, name
    for role in ("Launcher", "Worker"):
        assert policies_of(labels[f"MPIJob {role}"], "Ingress") == [{"from": peer(labels["MPIJob Worker"])}]
    # The policies are there before the pods.
    listed = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())["resources"]
    assert listed.index("networkpolicy.yaml") < min(listed.index("workers.yaml"), listed.index("coordinator.yaml"))


def test_ranks_reach_only_hosts_with_the_key_of_the_job(tmp_path):
    """The job's ssh against an sshd with the job's key, and one with another key in its place."""
    (settings,) = [document["data"]["ssh_config"] for document in manifests("mpijob.yaml") if document["kind"] == "ConfigMap"]
    whole = (DEPLOY / "kubernetes" / "mpijob.yaml").read_text()
    assert set(re.findall(r"StrictHostKeyChecking[ =](\w+)", whole)) == {"yes"}
    for key in ("id_rsa", "other"):
        run("ssh-keygen", "-q", "-t", "ecdsa", "-b", "521", "-N", "", "-f", tmp_path / key)
    (tmp_path / "authorized_keys").write_text((tmp_path / "id_rsa.pub").read_text())
    port = program.free_port()
    config = tmp_path / "ssh_config"
    config.write_text(settings.replace("/ssh/", f"{tmp_path}/").replace("Port 2222", f"Port {port}")
                      .replace("ConnectionAttempts 10", "ConnectionAttempts 100"))
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)     # required by sshd of root
    for host_key, code in (("id_rsa", 7), ("other", 255)):
        sshd = subprocess.Popen(["/usr/sbin/sshd", "-De", "-f", "/dev/null", "-p", str(port), "-h", tmp_path / host_key,
                                 "-o", f"AuthorizedKeysFile={tmp_path}/authorized_keys", "-o", "StrictModes=no",
                                 "-o", "PidFile=none", "-o", "ListenAddress=127.0.0.1"], stderr=subprocess.DEVNULL)
        try:
            ended = run("ssh", "-o", "BatchMode=yes", "-F", config, "127.0.0.1", "exit 7")
        finally:
            sshd.terminate()
            sshd.wait()
        assert ended.returncode == code, ended.stderr
    assert "Host key verification failed" in ended.stderr


def test_the_image_has_what_the_pods_use():
    steps = (DEPLOY / "container" / "Containerfile").read_text()
    steps = steps[steps.rindex("FROM "):]
    # The package creates the user if it does not exist; a second useradd would fail.
    assert steps.index("useradd") < steps.index("apt-get install")
    uid = int(re.search(r"^USER (\d+)$", steps, re.M)[1])
    assert f"--uid {uid} " in steps
    found = dict(pods())
    assert {pod["securityContext"]["runAsUser"] for pod in found.values()} == {uid}
    (worker,), (launcher,) = (found[f"MPIJob {role}"]["containers"] for role in ("Worker", "Launcher"))
    assert worker["command"][0] == "/usr/sbin/sshd" and "openssh-server" in steps
    port = worker["command"][worker["command"].index("-p") + 1]
    (settings,) = [each["data"] for each in manifests("mpijob.yaml") if each["kind"] == "ConfigMap"]
    assert int(port) > 1023 and f"Port {port}\n" in settings["ssh_config"]
    assert f"-F {launcher['volumeMounts'][0]['mountPath']}/{list(settings)[0]}" in launcher["command"]


@pytest.mark.parametrize("recipe", ["Containerfile", "cluster-iobench.def"])
def test_an_image_does_not_use_a_build_directory_of_the_host(recipe):
    steps = (DEPLOY / "container" / recipe).read_text()
    assert "rm -rf build\n" in steps.replace(" && ", "\n") and steps.index("rm -rf build") < steps.index("bootstrap.sh build")
    assert "build/" in (DEPLOY.parent / ".dockerignore").read_text().splitlines()


def test_the_image_is_built_with_the_program_that_cpack_needs():
    steps = (DEPLOY / "container" / "Containerfile").read_text()
    assert re.search(r"apt-get install .*\bfile\b[^&]*&& cpack .*-G DEB", steps)


def play(tmp_path, *settings):
    """Runs the playbook from tmp_path."""
    own = (f"{name}={tmp_path}/{name}" for name in ("etc", "packages", "units"))
    words = [word for each in ("become_root=false", "manage_service=false", f"owner={getpass.getuser()}", *own, *settings)
             for word in ("-e", each)]
    ended = run("ansible-playbook", "-i", "localhost,", "-c", "local", DEPLOY / "ansible" / "workers.yaml", *words, cwd=tmp_path,
                env={**program.clean_environment(), "ANSIBLE_NOCOLOR": "1", "HOME": str(tmp_path), "PWD": str(tmp_path),
                     "LC_ALL": "C.UTF-8"})
    return ended.returncode, ended.stdout


def test_the_playbook_writes_the_settings_once_and_removes_them(tmp_path):
    token = tmp_path / "token"
    token.write_text("a token of the test\n")
    settings = ("coordinator=coord:9400", "root=/mnt/nfs", f"token={token}")
    code, said = play(tmp_path, *settings)
    assert code == 0 and "changed=4" in said, said
    assert (tmp_path / "etc" / "worker.env").read_text() == "COORDINATOR=coord:9400\nROOT=/mnt/nfs\nOPTIONS=\n"
    assert (tmp_path / "etc" / "token").read_text() == token.read_text()
    assert (tmp_path / "etc" / "token").stat().st_mode & 0o777 == 0o600
    code, said = play(tmp_path, *settings)
    assert code == 0 and "changed=0" in said, said
    writable = tmp_path / "units" / "cluster-iobench-worker.service.d" / "writable.conf"
    assert writable.read_text() == "[Service]\nReadWritePaths=\nReadWritePaths=-/mnt/nfs\n"
    code, said = play(tmp_path, *settings, "options='--slots 2 --allow drop-caches'")
    assert code == 0 and "changed=1" in said, said
    assert (tmp_path / "etc" / "worker.env").read_text().endswith("\nOPTIONS=--slots 2 --allow drop-caches\n")
    code, said = play(tmp_path, "coordinator=coord:9400")
    assert code == 2 and "Give coordinator=HOST:PORT" in said
    code, said = play(tmp_path, "state=absent")
    assert code == 0, said
    assert not (tmp_path / "etc").exists() and not (tmp_path / "packages").exists() and not writable.exists()


def test_what_root_installs_lies_where_nobody_else_can_write(tmp_path):
    """Also if the directory was there before, open to everybody."""
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages").chmod(0o777)
    (tmp_path / "token").write_text("a token of the test\n")
    (tmp_path / "x.deb").write_text("no package")
    code, said = play(tmp_path, "coordinator=c:1", "root=/mnt", "token=token", "package=x.deb", "writable='/mnt /scratch'")
    assert code == 2 and "Invalid archive" in said, said     # and apt installs nothing
    assert (tmp_path / "packages").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "packages" / "x.deb").stat().st_mode & 0o777 == 0o600
    (book,) = yaml.safe_load((DEPLOY / "ansible" / "workers.yaml").read_text())
    assert book["vars"]["packages"] == "/var/cache/cluster-iobench" and book["vars"]["owner"] == "root"
    for task in book["tasks"]:
        for module in ("ansible.builtin.copy", "ansible.builtin.file"):
            words = task.get(module, {"state": "absent"})
            assert words.get("state") == "absent" or {"owner", "mode"} <= words.keys(), task["name"]


# Files of deploy/ that may name a directory in which everybody can write, and why.
OPEN_DIRECTORIES = {"mpijob.yaml": "a volume of the pod alone"}


@pytest.mark.parametrize("file", sorted(file for file in DEPLOY.rglob("*") if file.is_file()), ids=lambda file: file.name)
def test_no_file_puts_anything_where_everybody_can_write(file):
    found = re.findall(r"(?<![\w.$-])(?:/var)?/tmp\b|/dev/shm|TMPDIR", file.read_text())
    assert not found or OPEN_DIRECTORIES.get(file.name), found


def test_keys_are_not_made_where_others_can_write(tmp_path):
    for mode in (0o770, 0o707, 0o1777):
        directory = tmp_path / f"{mode:o}"
        directory.mkdir()
        directory.chmod(mode)
        ended = run(DEPLOY / "make-certificates.sh", directory, "coordinator")
        assert ended.returncode == 1 and "use a directory of your own" in ended.stderr, ended
        assert list(directory.iterdir()) == []
    for name in ("..", ".", "-x", "a/b"):
        ended = run(DEPLOY / "make-certificates.sh", tmp_path / "secrets", name)
        assert ended.returncode == 1 and "neither a host name nor an IP address" in ended.stderr, ended


def test_relative_paths_of_the_playbook_are_those_of_the_working_directory(tmp_path):
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "token").write_text("a token of the test\n")
    code, said = play(tmp_path, "coordinator=coord:9400", "root=/mnt/nfs", "token=secrets/token")
    assert code == 0, said
    assert (tmp_path / "etc" / "token").read_text() == "a token of the test\n"
    # The package would be installed: here, only its path is compared with the token's.
    (book,) = yaml.safe_load((DEPLOY / "ansible" / "workers.yaml").read_text())
    sources = [task["ansible.builtin.copy"].get("src") for task in book["tasks"] if "ansible.builtin.copy" in task]
    package, limits, settings, token = sources
    assert limits is None and settings is None and package.replace("package", "token") == token


def test_the_playbook_restarts_the_worker_after_each_change():
    (book,) = yaml.safe_load((DEPLOY / "ansible" / "workers.yaml").read_text())
    changes = [task["register"] for task in book["tasks"] if "register" in task]
    (package,) = [task for task in book["tasks"] if "ansible.builtin.apt" in task]
    assert package["register"] in changes and len(changes) == 4
    (service,) = [task for task in book["tasks"] if task.get("ansible.builtin.systemd", {}).get("enabled") is True]
    assert all(f"{name} is changed" in service["ansible.builtin.systemd"]["state"] for name in changes)


def executable(file, script):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def bootstrap_run(tmp_path, *words, cwd=None):
    """Runs `bootstrap.sh run` where all packages are installed and the program is built. Returns how it ended, and the
    options that it put before `words`. Its calls of CMake are in the file `calls`, the program's working directory is in
    `directory`."""
    for name in ("bootstrap.sh", "lib_packages.sh"):
        (tmp_path / "deploy").mkdir(exist_ok=True)
        shutil.copy(DEPLOY / name, tmp_path / "deploy")
    executable(tmp_path / "bin" / "dpkg-query", 'for name; do echo "installed $name"; done')
    executable(tmp_path / "bin" / "cmake", f'echo "$*" >> {tmp_path}/calls')
    executable(tmp_path / "build" / "release" / "cluster-iobench",
               f'printf "%s\\n" "$@" > {tmp_path}/words\npwd > {tmp_path}/directory\nexec {program.BINARY} "$@"')
    ended = run(tmp_path / "deploy" / "bootstrap.sh", "run", *words,
                env={**program.clean_environment(), "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}, cwd=cwd)
    passed = (tmp_path / "words").read_text().splitlines()
    assert passed[len(passed) - len(words):] == list(words), ended.stderr
    return ended, passed[:len(passed) - len(words)]


DEFAULTS = {"--transport", "--lanes", "--op", "--path", "--out", "--progress"}


@pytest.mark.parametrize("words, left_out", [
    (("--files-per-lane", "2", "-s", "1m"), set()),
    (("/mnt/nfs", "-s", "1m"), {"--path"}),
    (("--hosts", "c[01-04]", "--path", "/mnt/nfs"), {"--transport", "--path"}),
    (("--hosts=c[01-04]", "--path=/mnt/nfs"), {"--transport", "--path"}),
    (("-+m", "CLIENTS"), {"--transport", "--lanes", "--path"}),
    (("-f", "/mnt/nfs/file"), {"--path", "--lanes"}),
    (("--file=/mnt/nfs/file",), {"--path", "--lanes"}),
    (("-F", "/mnt/nfs/one", "/mnt/nfs/two"), {"--path"}),
    (("--files", "/mnt/nfs/one"), {"--path"}),
    (("--existing", "/mnt/nfs/file", "-i", "1", "-r", "4k", "-s", "64k"), {"--path", "--op"}),
    (("-a", "-g", "128k"), {"--lanes", "--op"}),
    (("-Raz", "-g", "128k"), {"--lanes", "--op"}),
    (("-wi0", "-ct2", "-s1m"), {"--lanes", "--op"}),
    (("-l", "1", "-u", "2"), {"--lanes"}),
    (("-+t", "--spawn", "2"), {"--transport", "--op"}),
    (("--mix", "100r@4k + stat 25%", "--rate", "400", "--time", "1", "-s", "1m"), {"--op"}),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_bootstrap_adds_no_default_that_an_option_excludes(tmp_path, words, left_out):
    clients = tmp_path / "clients"
    clients.write_text("c1 /tmp /usr/bin/cluster-iobench /mnt/nfs/file\n")
    words = [str(clients) if word == "CLIENTS" else word for word in words]
    ended, added = bootstrap_run(tmp_path, *words, "--print-plan")
    assert {word for word in added if word in DEFAULTS} == DEFAULTS - left_out
    assert ended.returncode == 0, ended.stderr


def test_bootstrap_adds_no_default_to_a_run_that_is_resumed(tmp_path):
    for words in (("--resume", "/nonexistent"), ("--resume=/nonexistent",)):
        ended, added = bootstrap_run(tmp_path, *words)
        assert added == ["--progress"] and "cannot be combined" not in ended.stderr, ended.stderr


def test_bootstrap_runs_the_program_where_the_user_is(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    ended, added = bootstrap_run(tmp_path, ".", "-s", "1m", "--print-plan", cwd=elsewhere)
    assert ended.returncode == 0 and "--path" not in added, ended.stderr
    assert (tmp_path / "directory").read_text() == f"{elsewhere}\n"


def test_warnings_of_another_compiler_do_not_end_the_first_build(tmp_path):
    bootstrap_run(tmp_path, "--print-plan")
    (configured,) = [call for call in (tmp_path / "calls").read_text().splitlines() if "--preset release -D" in call]
    assert "-DIOBENCH_WERROR=OFF" in configured
    assert "IOBENCH_WERROR" not in (DEPLOY.parent / "CMakePresets.json").read_text()


@pytest.mark.parametrize("moved", [False, True], ids=["in place", "moved"])
def test_bootstrap_configures_a_clone_that_was_moved_again(tmp_path, moved):
    tree = tmp_path / "build" / "release"
    tree.mkdir(parents=True)
    (tree / "build.ninja").write_text("")
    home = "/nonexistent" if moved else tmp_path
    # A copy may be where only the packages of the program are installed, so it is configured without tests.
    (tree / "CMakeCache.txt").write_text("IOBENCH_TESTS:BOOL=ON\nIOBENCH_UNIT_TESTS:BOOL=ON\n"
                                         f"CMAKE_HOME_DIRECTORY:INTERNAL={home}\n")
    ended, _ = bootstrap_run(tmp_path, "-s", "1m", "--print-plan")
    assert ended.returncode == 0, ended.stderr
    calls = (tmp_path / "calls").read_text()
    assert ("--preset release -DIOBENCH_TESTS=OFF" in calls) == moved and ("-DIOBENCH" in calls) == moved
    assert (tree / "CMakeCache.txt").exists() != moved, "CMake refuses the cache of another directory"


def test_a_job_ends_with_its_coordinator_although_workers_stay(tmp_path):
    """srun waits for the workers of a lost node. The script's own waits are cut short."""
    executable(tmp_path / "bin" / "sleep", "exit 0")
    executable(tmp_path / "bin" / "srun", f"""trap 'touch {tmp_path}/ended; kill $!; exit' TERM
/bin/sleep 60 > /dev/null 2>&1 &
echo "$*" > {tmp_path}/step
wait""")
    executable(tmp_path / "bin" / "coordinator", f"""while [ "$1" != --token-file ]; do shift; done
echo secret > "$2"
until [ -s {tmp_path}/step ]; do /bin/sleep 0.05; done
exit 3""")
    environment = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "IOBENCH": f"{tmp_path}/bin/coordinator", "SLURM_JOB_ID": "1",
                   "SLURM_NTASKS": "2", "SLURM_SUBMIT_DIR": str(tmp_path)}
    script = DEPLOY / "slurm" / "grpc.sbatch"
    ended = run("bash", script, "--path", "/mnt/nfs", env={**program.clean_environment(), **environment})
    assert ended.returncode == 3, ended.stderr
    assert (tmp_path / "ended").exists(), "srun is ended"
    assert "--no-kill " in (tmp_path / "step").read_text()
    assert "#SBATCH --no-kill" in script.read_text().splitlines()


@pytest.mark.parametrize("script", sorted((DEPLOY / "slurm").iterdir()), ids=lambda file: file.name)
def test_slurm_starts_no_job_again(script):
    """The results and data of the first start would be in its way."""
    assert "#SBATCH --no-requeue" in script.read_text().splitlines()


@pytest.mark.parametrize("script", [*sorted((DEPLOY / "slurm").iterdir()), DEPLOY / "make-certificates.sh"], ids=lambda file: file.name)
def test_each_script_is_valid_bash(script):
    assert shutil.which("bash") and run("bash", "-n", script).returncode == 0
