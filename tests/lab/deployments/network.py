"""What the network between clients and server does to packets. tests/lab/lab.py has the links."""

from deployment import V4
from deployments import Row, Says


def tap(made, host):
    return f"tap{made.lab.hosts[host].number}"


def outside(made, command, undo):
    """Runs a command on the machine inside the lab's network, and `undo` when the deployment ends."""
    made.lab.run_outside(command)
    made.undo_outside(undo)


def loses(percent):
    """The second client's network card drops frames that it should send, by chance. Its TCP does not know."""
    def make(made):
        client = made.lab.clients[1]
        made.mount_all(V4)
        # A segment a frame: else one frame has up to 64 KiB, and a few megabytes are too few frames for a chance of 0.5 %.
        made.lab.run(client, f"ip link set vec0 gso_max_segs 1 && tc qdisc add dev vec0 root netem loss {percent}%")
        made.undo(client, "tc qdisc del dev vec0 root; ip link set vec0 gso_max_segs 65535")
    return make


def slow(made):
    made.mount_all(V4)
    link = tap(made, made.lab.clients[1])
    outside(made, ["tc", "qdisc", "add", "dev", link, "root", "tbf", "rate", "16mbit", "burst", "64k", "latency", "2s"],
            ["tc", "qdisc", "del", "dev", link, "root"])


ROWS = [
    Row("a network that loses nothing", lambda made: made.mount_all(V4), {"network": Says("pass")}),
    Row("one client loses 3 % of its packets", loses(3), {"network": Says("fail", ("client-12: ", "sent again"), ("client-11",))}),
    Row("one client loses 0.5 % of its packets", loses(0.5),
        {"network": Says("warn", ("client-12: ", "sent again"), ("client-11",))}),
    Row("a client behind a link of 2 MB/s", slow, {}),
]
