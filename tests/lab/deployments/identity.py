"""Who a user is on the server, and who a client is to it."""

import lab as nfs_lab
from deployment import ALL_CLIENTS, EXPORT_OPTIONS, V3, V4
from deployments import Row, Says

NFSD_MAPS = "/sys/module/nfsd/parameters/nfs4_disable_idmapping"
UNIQUE_ID = "/sys/module/nfs/parameters/nfs4_unique_id"
AS_BEFORE = f"exportfs -o {EXPORT_OPTIONS},sync,no_root_squash {ALL_CLIENTS}:{nfs_lab.EXPORT}"
# Not those that hosts of the lab already have mounted: each version has a client of its own, with the name of its time.
V41 = "vers=4.1,actimeo=2"


def open_to_all(made):
    made.lab.run(nfs_lab.SERVER, f"chmod 777 {made.on_server}")


def squashed(options, version=V4, only_last=False):
    """The export squashes users, of all clients or of the last one."""
    def make(made):
        open_to_all(made)
        if only_last:
            address = made.lab.hosts[made.lab.clients[-1]].address
            made.export(f"sync,{options}", clients=address)
            made.undo(nfs_lab.SERVER, f"exportfs -u {address}:{nfs_lab.EXPORT}")
        else:
            made.export(f"sync,{options}")
            made.undo(nfs_lab.SERVER, AS_BEFORE)
        made.mount_all(version)
    return make


def names_on_the_server(made):
    """The server maps numbers to names, and has no idmapd that could."""
    made.lab.run(nfs_lab.SERVER, f"echo N >{NFSD_MAPS}")
    made.undo(nfs_lab.SERVER, f"echo Y >{NFSD_MAPS}")
    made.mount_all(V4)
    words = "touch /run/validate/given; chown 1234 /run/validate/given; rm /run/validate/given"
    assert "Invalid argument" in made.lab.run(made.lab.clients[0], words, check=False).stderr


def groups_of_the_server(made):
    restart = "kill $(pidof rpc.mountd); while pidof rpc.mountd >/dev/null; do sleep 0.1; done; rpc.mountd"
    made.lab.run(nfs_lab.SERVER, f"{restart} --manage-gids && exportfs -f")
    made.undo(nfs_lab.SERVER, f"{restart} && exportfs -f")
    made.mount_all(V4)


def default_acl(made):
    made.lab.run(nfs_lab.SERVER, f"setfacl -d -m u::rwx,g::rwx,o::rwx {made.on_server}")
    made.mount_all(V4)


def named(names, ids=("", ""), version=V41):
    """The clients get these host names and these ids of their NFS modules, and then mount."""
    def make(made):
        for client, name, unique_id in zip(made.lab.clients, names, ids):
            made.lab.run(client, f"hostname {name}; printf %s '{unique_id}' >{UNIQUE_ID}")
            made.undo(client, f"hostname {client}; printf '\\n' >{UNIQUE_ID}")
        made.mount_all(version)
    return make


CLASH = Says("fail", ("Linux NFSv4.1 ", "twin", "nfs4_unique_id"), ("nolock", "statd"))
ROWS = [
    Row("root_squash", squashed("root_squash"), {"identity": Says("pass", ("root is squashed to 65534:65534", "root_squash"))}),
    Row("root_squash with another anonuid", squashed("root_squash,anonuid=1234,anongid=1235"),
        {"identity": Says("pass", ("root is squashed to 1234:1235",))}),
    Row("root_squash over NFSv3", squashed("root_squash", V3), {"identity": Says("pass", ("root is squashed to 65534",))}),
    Row("all_squash for all", squashed("all_squash"),
        {"identity": Says("fail", ("all users become user 65534", "all_squash"), ("idmap",)), "groups": Says("follows")}),
    Row("all_squash with another anonuid", squashed("all_squash,anonuid=1234,anongid=1234"),
        {"identity": Says("fail", ("all users become user 1234", "anonuid=1234"), ("idmap",))}),
    Row("all_squash for one client", squashed("all_squash,anonuid=1234,anongid=1234", only_last=True),
        {"identity": Says("fail", ("client-12: all users become user 1234",), ("client-11: all",)), "storage": Says("follows")}),
    Row("names that the server cannot map", names_on_the_server,
        {"identity": Says("fail", ("EINVAL", "idmapd", "nfs4_disable_idmapping"), ("squash",)),
         "groups": Says("follows", (), ("manage-gids",))}),
    Row("groups looked up by the server", groups_of_the_server, {"groups": Says("skipped", ("manage-gids",))}),
    Row("a default ACL that overrides the umask", default_acl, {"identity": Says("warn", ("umask", "default ACL"))}),
    Row("two clients of one host name", named(("twin", "twin")), {"client-identity": CLASH}),
    Row("two clients of one host name and id", named(("twin", "twin"), ("rack", "rack")), {"client-identity": CLASH}),
    Row("one host name, different ids", named(("twin", "twin"), ("rack-1", "rack-2")), {"client-identity": Says("pass")}),
    Row("one id, different host names", named(("one", "two"), ("rack", "rack")), {"client-identity": Says("pass")}),
    Row("one host name over NFSv3", named(("twin", "twin"), version=V3), {"client-identity": Says("skipped")}),
]
