"""Commands that run in the namespaces of another process."""

FILES = {"net": "net", "mount": "mnt", "pid": "pid_for_children", "uts": "uts"}  # of a namespace, in /proc/PID/ns


def entering(pid, *spaces):
    """The words in front of a command that enters these namespaces of a process: "mount", "net", "pid", "uts".

    Without --root, the command's root would be that of the mount namespace, which is another directory where this
    machine's root is a chroot. Without --wd, it would keep our working directory, which belongs to another mount
    namespace: getcwd() would fail.
    """
    process = f"/proc/{pid}"
    enter = [f"--{space}={process}/ns/{FILES[space]}" for space in spaces]
    return ("nsenter", *enter, f"--root={process}/root", f"--wd={process}/root")
