"""The packages of `deploy/bootstrap.sh package`: each is installed where nothing else is, and measures there."""
import functools
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess

import pytest

import bare_roots
import program

BUILD = pathlib.Path(program.BINARY).parent
ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = {"deb": "*.deb", "rpm": "*.rpm", "tarball": "*.tar.gz"}
SELF_CONTAINED = ("rpm", "tarball")
# With the directories of the prefix, which is /usr but for the tarball.
IN_EACH = ("bin/cluster-iobench", "lib/cluster-iobench/cluster-iobench-worker", "share/man/man1/cluster-iobench.1",
           "share/bash-completion/completions/cluster-iobench", "share/zsh/site-functions/_cluster-iobench",
           "share/fish/vendor_completions.d/cluster-iobench.fish", "share/cluster-iobench/plans/smoke.yaml",
           "share/cluster-iobench/mixes/vm-images.yaml", "share/cluster-iobench/expect/nfs-10gbe.yaml",
           "share/cluster-iobench/grafana/cluster-iobench.json", "share/cluster-iobench/systemd/worker.env",
           "share/cluster-iobench/make-certificates.sh", "share/doc/cluster-iobench/LICENSE",
           "share/doc/cluster-iobench/THIRD-PARTY.md", "share/doc/cluster-iobench/docs/run.md")
OF_SERVICES = ("lib/systemd/system/cluster-iobench-worker.service", "lib/sysusers.d/cluster-iobench.conf")
# System calls that came after Linux 5.4, by the name of each that strace and this C library know.
NEWER_CALLS = ("openat2", "pidfd_getfd", "faccessat2", "close_range", "epoll_pwait2", "process_madvise", "mount_setattr",
               "futex_waitv", "clone3")     # clone3 is of 5.3, and container runtimes of that time deny it
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount")


@pytest.fixture(scope="module")
def packages():
    """kind -> its file, built from the program under test."""
    built = bare_roots.run("cmake", "--build", BUILD, "--target", "packages", patience_s=4 * program.PATIENCE_S)
    assert built.returncode == 0, built.stdout[-4000:] + built.stderr
    found = {kind: list((BUILD / "packages").glob(pattern)) for kind, pattern in KINDS.items()}
    assert all(len(files) == 1 for files in found.values()) and len(list((BUILD / "packages").iterdir())) == len(KINDS), found
    return {kind: files[0] for kind, files in found.items()}


def control(package, field):
    return bare_roots.checked("dpkg-deb", "--field", package, field).strip()


def install(kind, package, directory):
    """The root in which it is installed, and the program's path there."""
    if kind == "deb":
        root = bare_roots.debian(directory, control(package, "Depends"))
        shutil.copy(package, root.directory / "tmp")
        installed = root.run("dpkg", "--install", f"/tmp/{package.name}")
        assert installed.returncode == 0, installed
        return root, "cluster-iobench"
    root = bare_roots.Root(directory)
    if kind == "rpm":
        # Debian's rpm wants to be told that this is no mistake.
        bare_roots.checked("rpm", "--root", root.directory, "--dbpath", "/var/lib/rpm", "--force-debian", "--install", package)
        return root, "/usr/bin/cluster-iobench"
    bare_roots.checked("tar", "-x", "-z", "-f", package, "-C", root.directory)
    (top,) = {entry.name for entry in root.directory.iterdir()} - {"proc", "tmp"}
    assert top == package.name.removesuffix(".tar.gz")
    return root, f"/{top}/bin/cluster-iobench"


@pytest.fixture(scope="module")
def installed(packages, tmp_path_factory):
    """Returns the root of a kind and the program there. Made once."""
    @functools.cache
    def of(kind):
        directory = tmp_path_factory.mktemp(kind) / "root"
        root, binary = install(kind, packages[kind], directory)
        (root.directory / "data").mkdir()
        return root, binary
    return of


def files_in(kind, package):
    if kind == "deb":
        words = ("dpkg-deb", "--fsys-tarfile", package)
        names = subprocess.run(["tar", "-t"], input=subprocess.run(words, capture_output=True, check=True).stdout,
                               capture_output=True, check=True).stdout.decode().split()
        return {name.removeprefix("./usr/") for name in names}
    if kind == "rpm":
        names = bare_roots.checked("rpm", "--force-debian", "-q", "-l", "-p", package).split()
        return {name.removeprefix("/usr/") for name in names}
    return {name.partition("/")[2] for name in bare_roots.checked("tar", "-t", "-f", package).split()}


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_what_it_says(kind, packages):
    files = files_in(kind, packages[kind])
    assert not set(IN_EACH) - files, set(IN_EACH) - files
    # Whoever unpacks the tarball has the unit elsewhere, if at all.
    assert set(OF_SERVICES) & files == (set() if kind == "tarball" else set(OF_SERVICES))
    assert ("lib/cluster-iobench/cluster-iobench-mpi.so" in files) == (kind == "deb")
    assert not [name for name in files if name.startswith(("include/", "lib/cmake"))]


def test_the_version_is_that_of_the_project(packages):
    version = re.search(r"^project\(cluster-iobench VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
    assert program.plain("--version").stdout.split()[-1].startswith(f"{version}+")
    assert control(packages["deb"], "Version") == version
    assert bare_roots.checked("rpm", "--force-debian", "-q", "-p", "--queryformat", "%{VERSION}", packages["rpm"]) == version
    machine = platform.machine()
    assert packages["tarball"].name == f"cluster-iobench-{version}-linux-{machine}.tar.gz"
    assert packages["rpm"].name == f"cluster-iobench-{version}-1.{machine}.rpm"


def test_the_rpm_needs_nothing(packages):
    needed = bare_roots.checked("rpm", "--force-debian", "-q", "-p", "--requires", packages["rpm"]).splitlines()
    assert all(line.startswith("rpmlib(") for line in needed), needed
    assert not bare_roots.checked("rpm", "--force-debian", "-q", "-p", "--scripts", packages["rpm"]).strip()


RUN = "-i 0 -i 1 -i 2 -r 4k -s 256k -t 2 --path /data".split()


def new_out(root, name):
    """A directory there for a result. The root is made once, so an attempt that failed may have left one."""
    shutil.rmtree(root.directory / name, ignore_errors=True)
    return f"/{name}"


def phases(root, out):
    return json.loads((root.directory / out.lstrip("/") / "result.json").read_text(encoding="utf-8"))["phases"]


@needs_root
@pytest.mark.parametrize("kind", KINDS)
def test_it_measures_where_nothing_else_is_installed(kind, installed):
    root, binary = installed(kind)
    for name, words in (("local", ()), ("grpc", ("--spawn", "2"))):
        out = new_out(root, f"out-{name}")
        done = root.run(binary, "run", *RUN, *words, "--out", out)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        names = [phase["operation"] for phase in phases(root, out)]
        assert names[0] == "write" and "random-read" in names
        assert all(phase["bytes"] > 0 for phase in phases(root, out))
        assert re.search(r"^write +\S+ [KMG]iB/s ", done.stdout, re.M), done.stdout
    assert not list((root.directory / "data").iterdir())
    # What it brings is found beside it, whatever its prefix is.
    assert "smoke" in root.run(binary, "run", "--suite", "list").stdout
    worker = next(root.directory.glob("**/lib/cluster-iobench/cluster-iobench-worker"))
    versions = {root.run(each, "--version").stdout.split()[-1]
                for each in (binary, f"/{worker.relative_to(root.directory)}")}
    assert versions == {program.plain("--version").stdout.split()[-1]}


@needs_root
@pytest.mark.parametrize("kind", SELF_CONTAINED)
def test_nothing_else_is_there(kind, installed):
    """The roots of the self-contained program have no library, no shell and no file that the package has not brought."""
    root, _ = installed(kind)
    names = [file.name for file in root.directory.rglob("*") if file.is_file() and "proc" not in file.parts[:len(root.directory.parts) + 1]]
    assert not [name for name in names if re.search(r"\.so\b", name) or name in ("sh", "bash", "busybox")]


ON_LINUX_5_4 = ("strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={','.join(NEWER_CALLS)}",
                "-e", f"inject={','.join(NEWER_CALLS)}:error=ENOSYS")


@needs_root
def test_the_self_contained_program_needs_only_linux_5_4(installed):
    root, binary = installed("tarball")
    out = new_out(root, "out-5.4")
    done = root.run(binary, "run", *RUN, "--spawn", "2", "--out", out, before=ON_LINUX_5_4)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert len(phases(root, out)) >= 3
    # A worker of another user, which keeps to its roots.
    address = f"127.0.0.1:{program.free_port()}"
    worker = (*ON_LINUX_5_4, *bare_roots.ENTERING, root.directory, binary, "worker", "--join", address, "--join-timeout", "60",
              "--root", "/data")
    with program.beside(list(map(str, worker)), "the end of the run"):
        run = (binary, "run", "-i", "0", "--op", "create", "--op", "stat", "--op", "unlink", "--items", "20", "-r", "4k", "-s", "64k",
               "--path", "/data", "--listen", address, "--workers", "1")
        out = new_out(root, "out-roots")
        done = root.run(*run, "--out", out)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert {"write", "create", "stat", "unlink"} <= {phase["operation"] for phase in phases(root, out)}


@needs_root
def test_the_self_contained_program_says_what_it_has_not(installed):
    root, binary = installed("tarball")
    out = new_out(root, "out-said")
    assert root.run(binary, "run", *RUN, "--out", out).returncode == 0
    book = root.run(binary, "report", out, "--format", "workbook", "--output", "/book.xlsx")
    if not (root.directory / "book.xlsx").exists():     # where libxlsxwriter has an archive, it has workbooks
        assert book.returncode == 1 and "the self-contained program writes no workbooks" in book.stderr, book
    ranks = root.run(binary, "run", *RUN, "--out", new_out(root, "out-mpi"), OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="0")
    assert ranks.returncode == 1 and "the self-contained one, which cannot load MPI's libraries" in ranks.stderr, ranks
    assert root.run(binary, "report", out, "--format", "sqlite").returncode == 0


@needs_root
def test_the_debian_package_makes_the_user_of_its_service(installed):
    root, _ = installed("deb")
    assert re.search(r"^cluster-iobench:[^:]*:\d+:", (root.directory / "etc" / "passwd").read_text(), re.M)
    status = root.run("dpkg-query", "-W", "-f", "${db:Status-Status}", "cluster-iobench")
    assert status.stdout == "installed"
    # Its MPI module has all its libraries.
    (module,) = root.directory.glob("usr/lib/cluster-iobench/cluster-iobench-mpi.so")
    found = root.run("ldd", f"/{module.relative_to(root.directory)}")
    assert found.returncode == 0 and "libmpi.so" in found.stdout and "not found" not in found.stdout
    removed = root.run("dpkg", "--remove", "cluster-iobench")
    assert removed.returncode == 0 and not (root.directory / "usr/bin/cluster-iobench").exists(), removed
