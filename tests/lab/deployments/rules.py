"""Rules that applications rely on, and random work of all clients on shared files."""

import lab as nfs_lab
from deployment import V3, V4
from deployments import Row, Says

# Twenty seconds are a few thousand steps.
QUICK = ("--clock-difference", "3", "--names", "200")
RANDOM = ("--only", "consistency,posix,renames,cache-modes", "--consistency", "20s")
OF_CACHES = ("consistency", "posix", "renames", "cache-modes")


def mounted(options):
    return lambda made: made.mount_all(options)


def subtree_check(made):
    # Remounted clients look files up again, so that the handles are of the new kind.
    made.lab.run(nfs_lab.SERVER, f"exportfs -o {EXPORTED.replace('no_subtree_check', 'subtree_check')}")
    made.undo(nfs_lab.SERVER, f"exportfs -o {EXPORTED}")
    made.mount_all(V4)


EXPORTED = f"rw,sync,no_root_squash,no_subtree_check,fsid=0,insecure 10.77.0.0/24:{nfs_lab.EXPORT}"
PASSES = {name: Says("pass") for name in OF_CACHES}


def second_client(options):
    """The first client is right, the second has these options."""
    def make(made):
        first, second = made.lab.clients
        made.mount(first, V4)
        made.mount(second, f"vers=4.2,{options}")
    return make


ROWS = [
    Row("random work over NFSv4.2", mounted(V4), PASSES, RANDOM),
    Row("random work over NFSv3", mounted(V3), PASSES, RANDOM),
    Row("random work, no attribute caches", mounted("vers=4.2,noac"), PASSES, RANDOM),
    Row("random work, lookups not cached", mounted(f"{V4},lookupcache=none"), PASSES, RANDOM),
    Row("random work, all lookups cached", mounted(f"{V3},lookupcache=all"), PASSES, RANDOM),
    Row("random work, attributes cached for ten minutes", mounted("vers=4.2,actimeo=600"), PASSES, RANDOM),
    Row("random work, nocto with long attribute caches", second_client("nocto,actimeo=600"),
        {"consistency": Says("fail", ("shrunk from", "nocto"))}, ("--only", "consistency", *RANDOM[2:])),
    Row("random work over NFSv3, nocto", mounted("vers=3,nocto,actimeo=600"),
        {"consistency": Says("fail", ("shrunk from", "nocto"))}, ("--only", "consistency", *RANDOM[2:])),
    # While the server has a file open or in its caches, it finds it by its old handle.
    Row("subtree_check", subtree_check, {}, QUICK),
]
