"""File systems behind the export that lack something, or do it in their own way: facts, and no failures."""

import lab as nfs_lab
from deployment import ALL_CLIENTS, THERE, V3, V4
from deployments import Row, Says

FSID = 71
IMAGE = "/run/filesystem.img"  # on the server, in its memory; sparse


def exported(make_filesystem, options, by_hand=()):
    """Mounts what the command makes over the directory, and exports it by itself. by_hand: (command, whether it must
    succeed) on a client, in the mount: what the facts say, seen without validate."""
    def make(made):
        server, there = nfs_lab.SERVER, made.on_server
        made.undo(server, f"umount {there}; rm -f {IMAGE}")
        made.lab.run(server, make_filesystem.format(image=IMAGE, there=there))
        made.lab.run(server, f"exportfs -o rw,sync,no_root_squash,no_subtree_check,fsid={FSID},insecure {ALL_CLIENTS}:{there}")
        made.undo(server, f"exportfs -u {ALL_CLIENTS}:{there}; exportfs -f")
        made.mount_all(options)
        for command, succeeds in by_hand:
            ended = made.lab.run(made.lab.clients[0], f"cd {THERE} && {command}", check=False)
            assert (ended.returncode == 0) == succeeds, (command, ended)
    return make


def image(size, mkfs, mount=""):
    return (f"modprobe loop; truncate -s {size} {{image}} && {mkfs} {{image}} >&2 && "
            f"mount -o loop{',' + mount if mount else ''} {{image}} {{there}}")


TMPFS = "mount -t tmpfs -o size=64m tmpfs {there}"
VFAT = image("128M", "mkfs.vfat -F 32")
EXT4 = image("256M", "mkfs.ext4 -q -F")
EXT4_1K = image("256M", "mkfs.ext4 -q -F -b 1024")
EXT4_SECONDS = image("256M", "mkfs.ext4 -q -F -I 128")
XFS = image("400M", "mkfs.xfs -q")

LINKS = "touch a && ln a b"
SYMLINKS = "ln -s target s"
ATTRIBUTES = "touch a && setfattr -n user.x -v 1 a"
CLONES = "dd if=/dev/zero of=c bs=64k count=1 status=none && cp --reflink=always c d"
ALLOCATES = "fallocate -l 64k f"
SAME_CASE = "touch name && test -e NAME"
FOUR_GIB = "truncate -s 4294967296 large && rm large"

# Linux's own file systems, by NFSv4.2.
COMPLETE = {"case": "are different files", "unicode_forms": "each as given", "invalid_utf8": "kept as given",
            "reserved_characters": "kept as given", "longest_name": "255 bytes", "directory_positions": "behind the last",
            "link": "yes", "symlink": "1,023 bytes", "sparse": "take no space", "xattr": "yes", "acl": "NFSv4",
            "fallocate": "yes", "punch_hole": "yes", "seek_hole": "yes", "tmpfile": "no", "exchange": "no",
            "copy_range": "within the server", "shared_mapping": "yes", "direct": "yes"}
VFAT_LACKS = {"case": "are the same file", "link": "no", "symlink": "no", "largest_file": "4294967295 bytes", "sparse": "take space",
              "time_step": "2 s", "xattr": "no", "acl": "no"}
BY_HAND_ON_VFAT = [(LINKS, False), (SYMLINKS, False), (SAME_CASE, True), (FOUR_GIB, False)]
NO_FAULT = {"races": Says("pass", ("no hard links here",)), "limits": Says("pass", ("files up to 4 GiB",)),
            "features": Says("pass", ("link", "symlink", "case"), ("vendor",))}

ROWS = [
    Row("vfat behind NFSv4.2", exported(VFAT, V4, [*BY_HAND_ON_VFAT, (ATTRIBUTES, False)]), NO_FAULT, facts=VFAT_LACKS),
    Row("vfat behind NFSv3", exported(VFAT, V3, BY_HAND_ON_VFAT), NO_FAULT, facts=VFAT_LACKS),
    Row("tmpfs behind NFSv4.2", exported(TMPFS, V4, [(ATTRIBUTES, False), (LINKS, True)]),
        {"features": Says("pass", ("directory_positions",))},
        facts={"directory_positions": "names have moved up", "link": "yes", "xattr": "no", "clone": "no"}),
    Row("ext4 behind NFSv4.2", exported(EXT4, V4, [(LINKS, True), (ATTRIBUTES, True), (ALLOCATES, True), (CLONES, False)]), {},
        facts={**COMPLETE, "clone": "no", "inodes": "65,536", "time_step": "1 ns", "after_2038": "yes"}),
    Row("ext4 of 1 KiB blocks behind NFSv4.2", exported(EXT4_1K, V4), {}, facts={**COMPLETE, "largest_file": "4 TiB"}),
    Row("ext4 with times of whole seconds behind NFSv4.2", exported(EXT4_SECONDS, V4), {},
        facts={**COMPLETE, "time_step": "1 s", "after_2038": "no"}),
    Row("XFS behind NFSv4.2", exported(XFS, V4, [(CLONES, True), (ATTRIBUTES, True)]), {},
        facts={**COMPLETE, "clone": "yes"}),
    Row("XFS behind NFSv3", exported(XFS, V3, [(CLONES, False), (ATTRIBUTES, False), (ALLOCATES, False)]), {},
        facts={"xattr": "no", "acl": "POSIX", "fallocate": "no", "punch_hole": "no", "seek_hole": "one piece", "clone": "no",
               "copy_range": "through the client", "link": "yes"}),
]
