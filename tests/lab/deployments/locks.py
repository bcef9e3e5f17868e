"""Locks that work when one asks for them, and not when one waits for them or a host restarts."""

import lab as nfs_lab
from deployment import LOCKS_OF_V3, V3, V4
from deployments import Row, Says


def callbacks_cut_off(made):
    """The server asks rpcbind of a client for its lockd, which rpcbind no longer knows. A new mount starts lockd anew."""
    made.mount_all(V3)
    for client in made.lab.clients:
        made.lab.run(client, "for version in 1 3 4; do rpcinfo -d 100021 $version; done; ! rpcinfo -p | grep -q 100021")


def without_rpcbind(made):
    """Neither can a client reach its own statd then."""
    made.mount_all(V3)
    for client in made.lab.clients:
        made.lab.run(client, "kill $(pidof rpcbind)")
        made.undo_first(client, "rpcbind -w")


def without_statd(*hosts):
    def make(made):
        made.mount_all(V3)
        for host in [nfs_lab.SERVER if which == "server" else made.lab.clients[which] for which in hosts]:
            made.lab.run(host, "kill $(pidof rpc.statd); while pidof rpc.statd; do sleep 0.1; done")
            made.undo_first(host, LOCKS_OF_V3)
    return make


def mounted(options):
    return lambda made: made.mount_all(options)


ROWS = [
    Row("NFSv3, whose server cannot call the clients back", callbacks_cut_off,
        {"locks": Says("fail", ("is not told when it is free", "let the server call the clients"), ("nolock",))}),
    Row("NFSv3, rpcbind dead on the clients", without_rpcbind,
        {"locks": Says("fail", ("rpc.statd does not answer", "rpcbind", "ENOLCK"), ("nolock",)), "cache-modes": Says("follows")}),
    Row("NFSv3, statd dead on the server", without_statd("server"),
        {"locks": Says("warn", ("rpc.statd of the server does not answer", "rpc.statd"), ("nolock",))}),
    Row("NFSv3, statd dead on one client", without_statd(1),
        {"locks": Says("warn", ("client-12: rpc.statd of this client does not answer",), ("nolock", "client-11: rpc.statd of this"))}),
    Row("NFSv3, nolock", mounted(f"{V3},nolock"),
        {"mounts": Says("fail", ("nolock",)), "locks": Says("follows", ("do not reach the server", "client-11: nolock"))}),
    Row("NFSv3, local_lock=posix", mounted(f"{V3},local_lock=posix"),
        {"mounts": Says("fail", ("local_lock=posix",)), "locks": Says("follows", ("do not reach the server", "local_lock=posix"), ("flock: ",))}),
    Row("NFSv3, local_lock=flock", mounted(f"{V3},local_lock=flock"),
        {"mounts": Says("fail", ("local_lock=flock",)), "locks": Says("follows", ("do not reach the server", "local_lock=flock"), ("fcntl: ",))}),
    Row("NFSv4.0 with locks", mounted("vers=4.0,actimeo=2"), {"locks": Says("pass", ("who waits has a lock",))}),
    Row("NFSv4.2 with locks", mounted(V4), {"locks": Says("pass", ("who waits has a lock",))}),
]
