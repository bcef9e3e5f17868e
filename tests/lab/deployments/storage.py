"""What the clients have mounted there: the same storage, another one, or a view of it that goes one way only."""

from deployment import THERE, V4
from deployments import Row, Says


def overlay(on):
    """The client numbered `on` has an overlay over the mount, which keeps what it writes to itself."""
    def make(made):
        lab = made.lab
        client = lab.clients[on]
        made.mount_all(V4)
        lab.run(client, f"modprobe overlay; mkdir -p /run/below /run/above/up /run/above/work && mount --move {THERE} /run/below 2>/dev/null "
                f"|| mount --bind {THERE} /run/below; mount -t overlay -o lowerdir=/run/below,upperdir=/run/above/up,workdir=/run/above/work "
                f"overlay {THERE}")
        made.undo(client, f"umount -l /run/below; rm -rf /run/above; mountpoint -q {THERE} && umount -l {THERE}; true")
    return make


def another_directory(made):
    lab = made.lab
    made.mount(lab.clients[0], V4)
    other = f"{made.name}-other"
    lab.run("server", f"mkdir -p /mnt/export/{other}")
    lab.run(lab.clients[1], f"mount -t nfs -o {V4} 10.77.0.1:/{other} {THERE}")
    made.mounted.append(lab.clients[1])
    made.undo("server", f"rm -rf /mnt/export/{other}")


def nothing_on_one(made):
    made.mount(made.lab.clients[0], V4)


ROWS = [
    Row("an overlay on the second client", overlay(1),
        {"storage": Says("fail", ("client-12: others do not see what it writes", "overlay"), ("client-11: ",))}),
    Row("an overlay on the first client", overlay(0),
        {"storage": Says("fail", ("client-11: others do not see what it writes", "overlay"), ("client-12: ",))}),
    Row("another directory on the second client", another_directory, {"storage": Says("fail", ("is other storage than",))}),
    Row("nothing mounted on the second client", nothing_on_one, {"storage": Says("fail", ("is other storage than", "tmpfs"))}),
]
