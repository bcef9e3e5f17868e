"""Roots of machines on which next to nothing is installed, and programs that run there. They need root, to mount."""
import os
import pathlib
import re
import shutil
import subprocess

import program

# In a mount namespace of its own: what is mounted goes with the command.
ENTERING = ("unshare", "--mount", "--propagation", "private", "sh", "-ec",
            'mount -t proc proc "$1/proc"; [ ! -d "$1/dev" ] || mount --rbind /dev "$1/dev"; exec chroot "$@"', "sh")


def run(*command, patience_s=program.PATIENCE_S, **more):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, stdin=subprocess.DEVNULL,
                          timeout=patience_s, check=False, **more)


def checked(*command, **more):
    done = run(*command, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


class Root:
    """A directory that is the root of another machine, with /proc and /tmp. If it has a /dev, that is this machine's."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        (self.directory / "proc").mkdir(parents=True)
        (self.directory / "tmp").mkdir()

    def run(self, *command, before=(), **environment):
        """Runs a command that is installed there; `before`: words of this machine in front, such as strace's."""
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", **environment}
        return run(*before, *ENTERING, self.directory, *command, env=environment)


def packages_of_this_machine():
    """name -> the fields of each package that is installed here, and what it provides -> its name."""
    found, provided = {}, {}
    for stanza in pathlib.Path("/var/lib/dpkg/status").read_text(encoding="utf-8").split("\n\n"):
        fields = dict(re.findall(r"^([A-Z][\w-]*): (.*)$", stanza, re.M))
        if fields.get("Status") == "install ok installed":
            found[fields["Package"]] = {**fields, "stanza": stanza}
            for name in re.findall(r"([a-z0-9][a-z0-9+.-]+)(?: \([^)]*\))?(?:, |$)", fields.get("Provides", "")):
                provided.setdefault(name, fields["Package"])
    return found, provided


def needed_for(dependencies):
    """The packages of this machine that `dependencies`, the words of a package, need, and those that every Debian has."""
    found, provided = packages_of_this_machine()
    waiting = [dependencies, *(name for name, fields in found.items() if fields.get("Essential") == "yes")]
    chosen = {}
    while waiting:
        for alternatives in filter(None, waiting.pop().split(", ")):
            names = [re.split(r"[ :(]", each.strip())[0] for each in alternatives.split("|")]
            names = [name if name in found else provided.get(name) for name in names]
            name = next((name for name in names if name), None)
            assert name, f"not installed here, so it is none of the libraries that were linked: {alternatives}"
            if name not in chosen:
                chosen[name] = found[name]
                waiting += [found[name].get("Pre-Depends", ""), found[name].get("Depends", "")]
    return chosen


def debian(directory, dependencies):
    """A Debian of the packages that a package needs and those that every Debian has, and of no others. They are this machine's.

    dpkg knows them, so it refuses a package that needs another one, and a program finds no library of another one."""
    root = Root(directory)
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        link = pathlib.Path("/") / name
        if link.is_symlink():
            (root.directory / os.readlink(link)).mkdir(parents=True, exist_ok=True)
            (root.directory / name).symlink_to(os.readlink(link))
    chosen = needed_for(dependencies)
    info, database = pathlib.Path("/var/lib/dpkg/info"), root.directory / "var/lib/dpkg"
    (database / "info").mkdir(parents=True)
    (database / "updates").mkdir()
    shutil.copy(info / "format", database / "info")     # without it, dpkg does not expect ":amd64" in their names
    files = set()
    for name, fields in chosen.items():
        lists = [file for file in (info / f"{name}.list", info / f"{name}:{fields['Architecture']}.list") if file.exists()]
        shutil.copy(lists[0], database / "info")
        files.update(lists[0].read_text(encoding="utf-8").splitlines())
    # What takes space and is not run.
    left_out = re.compile(r"/usr/share/(doc|man|locale|info|lintian)/.")
    there = sorted(file[1:] for file in files if len(file) > 1 and os.path.lexists(file) and not left_out.match(file))
    wanted = root.directory / "files"
    wanted.write_text("\0".join(there))
    checked("sh", "-ec", 'tar -C / -c --no-recursion --null --verbatim-files-from -T "$1/files" | tar -x -C "$1"', "sh", root.directory)
    wanted.unlink()
    for name in ("passwd", "group"):     # made by the scripts of base-passwd
        shutil.copy(f"/usr/share/base-passwd/{name}.master", root.directory / "etc" / name)
    (database / "status").write_text("".join(fields["stanza"] + "\n\n" for fields in chosen.values()), encoding="utf-8")
    (root.directory / "dev").mkdir(exist_ok=True)
    checked("chroot", root.directory, "ldconfig")
    return root
