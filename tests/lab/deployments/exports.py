"""What the server's export and its file system say, and the mounts do not show: who may write, and whether there is space."""

import lab as nfs_lab
from deployment import ALL_CLIENTS, THERE, V4, set_quota
from deployments import Row, Says

SERVER = nfs_lab.SERVER
AS_BEFORE = "sync,no_root_squash"


def again(made, options, clients=ALL_CLIENTS):
    """Exports the lab's directory anew with these options, and as it was when the deployment ends."""
    made.export(options, clients)
    if clients == ALL_CLIENTS:
        made.undo(SERVER, f"exportfs -o rw,no_subtree_check,fsid=0,insecure,{AS_BEFORE} {ALL_CLIENTS}:{nfs_lab.EXPORT}")
    else:
        made.undo(SERVER, f"exportfs -u {clients}:{nfs_lab.EXPORT}")


def address(made, client):
    return made.lab.hosts[client].address


def disk(made, make, clients=(ALL_CLIENTS,)):
    """Makes the deployment's directory an ext4 of its own, of 16 MiB, exported to these clients. A client that has
    lost its export cannot give its state back, which keeps the server from unmounting it until the lease ends."""
    image = f"/mnt/export/{made.name}.ext4"
    made.lab.run(SERVER, f"modprobe loop; truncate -s 16m {image} && {make} {image} && mount -o loop {image} {made.on_server}")
    for client in clients:
        made.lab.run(SERVER, f"exportfs -o rw,sync,no_root_squash,no_subtree_check,insecure,fsid=9 {client}:{made.on_server}")
    made.undo(SERVER, "".join(f"exportfs -u {client}:{made.on_server}; " for client in clients) + f"for try in 1 2 3 4 5 6 7 8 9; do exportfs -f; "
              f"umount {made.on_server} && break; sleep 0.5; done; "
              f"mountpoint -q {made.on_server} && umount -l {made.on_server}; rm -f {image}")


def read_only(made):
    made.mount_all(V4)
    again(made, "ro,sync,no_root_squash")
    lab = made.lab
    assert lab.run(lab.clients[0], f"touch {THERE}/x", check=False).returncode != 0


def read_only_for_one(made):
    made.mount_all(V4)
    again(made, "ro,sync,no_root_squash", address(made, made.lab.clients[1]))


def full(made):
    disk(made, "mkfs.ext4 -q -m 0")
    made.lab.run(SERVER, f"dd if=/dev/zero of={made.on_server}/all bs=64k 2>/dev/null; dd if=/dev/zero of={made.on_server}/rest bs=1k "
                 f"2>/dev/null; sync; df -k {made.on_server} | grep -q 100%")
    made.mount_all(V4)


def out_of_inodes(made):
    disk(made, "mkfs.ext4 -q -N 32")
    made.lab.run(SERVER, f"cd {made.on_server}; n=0; while touch f$n 2>/dev/null; do n=$((n+1)); done; sync; [ $n -lt 32 ]")
    made.mount_all(V4)


def quota_used_up(made):
    again(made, "sync,all_squash,anonuid=1234,anongid=1234")
    made.lab.run(SERVER, f"chmod 777 {made.on_server}; dd if=/dev/zero of={made.on_server}/much bs=4k count=8 2>/dev/null && "
                 f"chown 1234:1234 {made.on_server}/much && sync")
    for blocks in 0, 32:  # KiB: exactly what the file has
        made.lab.run(SERVER, set_quota(1234, blocks))
    made.undo(SERVER, set_quota(1234, 0))
    made.mount_all(V4)


def squashed(options):
    def make(made):
        again(made, options)
        made.lab.run(SERVER, f"chmod 755 {made.on_server}; chown root:root {made.on_server}")
        made.mount_all(V4)
    return make


def unexported_for_one(made):
    """Each client has an export of its own; that of the second ends while it is mounted."""
    disk(made, "mkfs.ext4 -q", [address(made, client) for client in made.lab.clients])
    made.mount_all(V4)
    made.lab.run(SERVER, f"exportfs -u {address(made, made.lab.clients[1])}:{made.on_server}; exportfs -f")


def made_again(made):
    made.mount_all(V4)
    made.lab.run(SERVER, f"rm -rf {made.on_server} && mkdir {made.on_server}")


def mounted_and_fine(made):
    made.mount_all(V4)


ROWS = [
    Row("mounted rw, exported ro", read_only, {"storage": Says("fail", ("EROFS", "export it with rw"), ("root_squash",))}),
    Row("exported ro to one client", read_only_for_one,
        {"storage": Says("fail", ("EROFS", "export it with rw", "client-12"), ("root_squash", "client-11"))}),
    Row("the server's disk is full", full, {"space": Says("fail", ("ENOSPC", "0 B of "), ("root_squash", "no inode"))}),
    Row("the server's disk is out of inodes", out_of_inodes, {"space": Says("fail", ("ENOSPC", "no inode is left", "0 of 32"))}),
    Row("the quota is used up", quota_used_up, {"space": Says("fail", ("EDQUOT", "quota"), ("no_root_squash",))}),
    Row("root is squashed, and the directory is root's", squashed("sync,root_squash"),
        {"identity": Says("fail", ("EACCES", "no_root_squash"))}),
    Row("all are squashed, and the directory is root's", squashed("sync,all_squash,anonuid=1234,anongid=1234"),
        {"identity": Says("fail", ("EACCES", "all_squash"))}),
    Row("no longer exported to one client", unexported_for_one, {"storage": Says("fail", ("ESTALE", "exportfs -v", "client-12"))}),
    Row("the directory was removed and made again", made_again, {"storage": Says("fail", ("ESTALE", "mount it again"))}),
    Row("the fault removes the directory", mounted_and_fine,
        {"failover": Says("fail", ("ESTALE", "fsid="), ("make space",))},
        options=("--clock-difference", "3", "--only", "storage,durability,failover,lock-reclaim"), fault="replace_directory"),
]
