#!/bin/bash
# Process 1 of the lab's own pid, network and mount namespaces.
# usage: namespace_init.sh MEMORY_MB HOST...      a host is NAME=ADDRESS
# Says READY, then stays until its standard input ends, that is until the process that started the
# lab closes it or dies, however it dies. The kernel then kills everything in the pid namespace, and
# the network (bridge, taps) and the mounts vanish with their last user. So nothing of the lab
# outlives its owner, and nothing has to be found and removed.
set -eu
memory_mb=$1
shift

# The hosts' memory lies in /dev/shm; with a private one a container's 64 MB do not matter.
mkdir -p /dev/shm
mount -t tmpfs -o mode=1777,size="${memory_mb}m" tmpfs /dev/shm
# Scratch space and mount points, which the hosts see through hostfs.
mount -t tmpfs -o size=64m tmpfs /mnt
lab=/mnt/lab
mkdir -p $lab/home $lab/tmp $lab/uml /mnt/export /mnt/nfs /mnt/nfs3
# Each host mounts its own modules here. An empty directory: all that may stay on the machine.
mkdir -p /lib/modules

# What the outside and, through hostfs, every host reads: names of the lab only, no resolver to wait
# for, and a root whose shell and home bring no start-up files.
bind() { mount --bind "$1" "$(readlink -f "$2")"; }
printf '127.0.0.1 localhost\n::1 localhost\n10.77.0.254 outside\n' >$lab/hosts
for host in "$@"; do echo "${host#*=} ${host%%=*}" >>$lab/hosts; done
bind $lab/hosts /etc/hosts
: >$lab/resolv.conf
[ ! -e /etc/resolv.conf ] || bind $lab/resolv.conf /etc/resolv.conf
# rpcbind and sshd refuse whom these name, and "ALL: ALL" names the lab's clients, too.
: >$lab/no_rules
for rules in /etc/hosts.allow /etc/hosts.deny; do
  [ ! -e $rules ] || bind $lab/no_rules $rules
done
sed "s#^root:.*#root:x:0:0:root:$lab/home:/bin/sh#" /etc/passwd >$lab/passwd
bind $lab/passwd /etc/passwd

ip link set lo up
ip link add br0 type bridge
ip addr add 10.77.0.254/24 dev br0
ip link set br0 up
for host in "$@"; do
  tap=tap${host##*.}
  ip tuntap add dev "$tap" mode tap
  ip link set "$tap" master br0 up
done

for key in id hostkey; do ssh-keygen -q -t ed25519 -N '' -f $lab/$key; done
cat >$lab/ssh_config <<CONFIG
Host *
  User root
  IdentityFile $lab/id
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  GlobalKnownHostsFile /dev/null
  LogLevel ERROR
  KexAlgorithms curve25519-sha256
  Ciphers aes128-gcm@openssh.com
  ControlPath $lab/ssh-%h
  ConnectTimeout 20
CONFIG
echo READY
read -r _ || true
