"""Faults that happen, or do not, while clients write; grace periods and clocks."""

import lab as nfs_lab
from deployment import V3, V4
from deployments import Row, Says

RESTARTED = "the NFS service was restarted, on a host that answered all the time"
QUICK = ("--only", "durability,failover,lock-reclaim", "--stall-within", "240")
NOT_SEEN = {name: Says("warn", ("no fault was seen",)) for name in ("durability", "failover", "lock-reclaim")}


def mounted(options):
    return lambda made: made.mount_all(options)


def async_export(made):
    made.mount_all(V4)
    made.export("async,no_root_squash")
    made.undo(nfs_lab.SERVER, f"exportfs -o rw,sync,no_root_squash,no_subtree_check,fsid=0,insecure 10.77.0.0/24:{nfs_lab.EXPORT}")


def clock_off(host, seconds):
    def make(made):
        made.mount_all(V4)
        name = nfs_lab.SERVER if host == "server" else made.lab.clients[host]
        shift = "date -s @$(python3 -c 'import time; print(time.time() + %s)')"
        made.lab.run(name, shift % seconds)
        made.undo(name, shift % -seconds)
    return make


ROWS = [
    Row("a fault hook that does nothing, NFSv4.2", mounted(V4), NOT_SEEN, QUICK, fault="do_nothing"),
    Row("a fault hook that does nothing, NFSv3", mounted(V3), NOT_SEEN, QUICK, fault="do_nothing"),
    Row("nfsd restarted, async export", async_export,
        {"durability": Says("warn", ("the loss of power was not tested", RESTARTED)), "failover": Says("pass", (RESTARTED,)),
         "lock-reclaim": Says("pass")}, QUICK, fault="restart_service"),
    Row("nfsd restarted, sync export", mounted(V4),
        {"durability": Says("warn", ("the loss of power was not tested", RESTARTED)), "failover": Says("pass", (RESTARTED,)),
         "lock-reclaim": Says("pass")}, QUICK, fault="restart_service"),
    Row("nfsd restarted with a grace period of 20 s", mounted(V4),
        {"failover": Says("pass", ("the server's grace period", RESTARTED)), "durability": Says("warn")}, QUICK,
        fault="restart_with_grace"),
    Row("a server that hangs for 5 s", mounted(V4),
        {"durability": Says("warn", ("it was not restarted",)), "failover": Says("pass", ("it was not restarted",)),
         "lock-reclaim": Says("warn", ("no client had to reclaim",))}, QUICK, fault="freeze_briefly"),
    Row("a server that loses its power, NFSv4.2", mounted(V4),
        {"durability": Says("pass", ("its NFS service then began anew",)), "failover": Says("pass")}, QUICK, fault="cut_power"),
    Row("the server's clock is an hour ahead", clock_off("server", 3600),
        {"clocks": Says("fail", ("the server's clock is 1 h", "ahead of those of all 2 clients"), ("its clock is 2 s",))}),
    Row("a client's clock is 2 s behind", clock_off(0, -2),
        {"clocks": Says("fail", ("client-11: its clock is", "behind the file system's"), ("the server's clock",))},
        ("--clock-difference", "1", "--names", "200")),
]
