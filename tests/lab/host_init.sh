#!/bin/bash
# Init of one User-Mode Linux host of the lab. Its root is the lab's mount namespace, by hostfs.
# On the kernel's command line: role=server|client name=NAME addr=ADDRESS
# Says READY on the console when all is served or mounted. When that cannot be had it says FAILED
# and why, and ends, and with it the host.
export PATH=/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin
lab=/mnt/lab
step() { read -r up _ </proc/uptime; echo "LAB ${up}s $*"; }
fail() { echo "FAILED $*"; exit 1; }

mount -t proc proc /proc
for word in $(</proc/cmdline); do
  case $word in role=* | name=* | addr=*) declare "${word%%=*}=${word#*=}" ;; esac
done
step "$role $name $addr"

mount -t sysfs sysfs /sys
mkdir -p /dev/pts /dev/shm && mount -t devpts devpts /dev/pts
# hostfs writes to the real machine: hide what a host would write.
for dir in /run /dev/shm; do mount -t tmpfs tmpfs $dir || fail "tmpfs on $dir"; done
mkdir -p /run/sshd /run/tmp
hostname "$name"
ip link set lo up && ip addr add "$addr/24" dev vec0 && ip link set vec0 up || fail "network"
mount --bind /usr/lib/uml/modules /lib/modules || fail "modules of linux.uml"
/usr/sbin/sshd -f /dev/null -h $lab/hostkey -o AuthorizedKeysFile=$lab/id.pub -o StrictModes=no \
  -o PermitRootLogin=yes -o UsePAM=no -o UseDNS=no -o PidFile=none -o MaxSessions=200 \
  -o MaxStartups=100 -o SetEnv="TMPDIR=/run/tmp" || fail "sshd"
step "has sshd"

serve() {
  mount -t tmpfs tmpfs /var/lib/nfs && mkdir -p /var/lib/nfs/v4recovery /run/rpcbind &&
    touch /var/lib/nfs/{etab,rmtab,xtab} || fail "state directories"
  if [ -e /dev/ubda ]; then
    mount -t ext4 /dev/ubda /mnt/export || fail "mount the disk"
  else
    mount -t tmpfs -o size=256m tmpfs /mnt/export
  fi
  # Groups are those that a client names. Debian's manage-gids would look them up, and know none of a test's users.
  if [ -e /etc/nfs.conf ]; then
    echo '[mountd]' >/run/nfs.conf && mount --bind /run/nfs.conf /etc/nfs.conf || fail "nfs.conf"
  fi
  modprobe nfsd && mount -t nfsd nfsd /proc/fs/nfsd || fail "modprobe nfsd"
  rpcbind -w && rpc.mountd || fail "rpcbind, rpc.mountd"
  exportfs -o rw,sync,no_root_squash,no_subtree_check,fsid=0,insecure \
    10.77.0.0/24:/mnt/export || fail "exportfs"
  # Nobody has locks or state to reclaim; with grace periods the first lock would wait 50 s, the first open 90 s.
  echo 1 >/proc/sys/fs/nfs/nlm_grace_period || fail "grace period of locks"
  rpc.nfsd -V 3 -V 4.2 4 || fail "rpc.nfsd"
  echo Y >/proc/fs/nfsd/v4_end_grace
}

join() {
  modprobe nfsv3 && modprobe nfsv4 || fail "modprobe nfs"
  step "waits for the server"
  until (: </dev/tcp/10.77.0.1/2049) 2>/dev/null; do
    [ "$SECONDS" -lt 60 ] || fail "no server after 60 s"
    sleep 0.05
  done
  step "mounts"
  mount -t nfs -o vers=4.2 10.77.0.1:/ /mnt/nfs || fail "mount NFSv4.2"
  mount -t nfs -o vers=3,nolock 10.77.0.1:/mnt/export /mnt/nfs3 || fail "mount NFSv3"
}

case $role in server) serve ;; client) join ;; *) fail "role $role" ;; esac
step "is complete"
echo READY
while :; do sleep 3600; done
