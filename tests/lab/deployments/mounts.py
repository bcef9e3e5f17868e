"""What clients have mounted: the same thing under another name, something else, or nothing."""

import lab as nfs_lab
from deployment import THERE, V3, V4
from deployments import Row, Says


def mount_at(made, client, source, where, options=V4):
    made.lab.run(client, f"mkdir -p {where} && mount -t nfs -o {options} {source} {where}")
    made.undo(client, f"umount -l {where}")


def other_address(made):
    first, second = made.lab.clients
    made.lab.run(nfs_lab.SERVER, "ip addr add 10.77.0.2/24 dev vec0")
    made.undo(nfs_lab.SERVER, "ip addr del 10.77.0.2/24 dev vec0")
    made.mount(first, V4)
    mount_at(made, second, f"10.77.0.2:/{made.name}", THERE)


def parent_and_subdirectory(made):
    first, second = made.lab.clients
    made.lab.run(nfs_lab.SERVER, f"mkdir {made.on_server}/sub")
    made.mount(first, V4)
    made.path = f"{THERE}/sub"
    made.undo(second, f"rmdir {THERE}/sub")
    mount_at(made, second, f"10.77.0.1:/{made.name}/sub", f"{THERE}/sub")


def bind_mount(made):
    first, second = made.lab.clients
    made.mount(first, V4)
    mount_at(made, second, "10.77.0.1:/", "/run/whole")
    made.lab.run(second, f"mount --bind /run/whole/{made.name} {THERE}")
    made.undo(second, f"umount -l {THERE}")


def each(options_of_clients):
    def make(made):
        for client, options in zip(made.lab.clients, options_of_clients):
            made.mount(client, options)
    return make


ROWS = [
    Row("two addresses of one server", other_address,
        {"mounts": Says("pass", ("10.77.0.2", "another address", "on client-11"), ("on all",))}),
    Row("a mount and a mount of its subdirectory", parent_and_subdirectory,
        {"mounts": Says("pass", ("/sub: a directory below",))}),
    # Linux shows it as a mount of that directory (nfs_show_devname): there is nothing to tell.
    Row("a mount and a bind mount", bind_mount, {"mounts": Says("pass", ("on all, with equal options",))}),
    Row("nothing mounted anywhere", lambda made: None,
        {"mounts": Says("fail", ("tmpfs", "no client has a network file system")), "storage": Says("follows")}),
    Row("soft on one client", each((V4, f"{V4},soft")), {"mounts": Says("fail", ("client-12: soft", "mount with hard"))}),
    Row("NFSv3 and NFSv4.2", each((V3, V4)),
        {"mounts": Says("warn", ("vers=3", "vers=4.2")), "locks": Says("fail", ("client-11 waited", "use one NFS version"), ("firewall",))}),
    Row("another rsize on one client", each((V4, f"{V4},rsize=32768")), {"mounts": Says("warn", ("client-12", "rsize=32768", "most have"))}),
    Row("small rsize on all", each((f"{V4},rsize=4096",) * 2), {"mounts": Says("warn", ("both clients", "rsize=4096"))}),
]
