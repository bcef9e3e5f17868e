#!/bin/sh
# What a host with many cores shows of our lanes and of the coordinator, in about 7 minutes, without root, a build or a network:
#
#     tests/perf/many_cores.sh PROGRAM [OPTIONS OF compare.py]
#     tests/perf/many_cores.sh ./cluster-iobench --bare ./bare_lane --iozone ./iozone --before ./cluster-iobench-old
#
# Take along this folder, a cluster-iobench of a release, and, where the host has no C++ compiler, bare_lane built with
# c++ -O2 -static -o bare_lane tests/perf/bare_lane.cc; fio is used if it is in PATH. Needs python3 and 256 MiB of /dev/shm
# per core, twice. Prints tables for docs/performance.md.
set -eu
program=$(realpath "$1")
shift
here=$(dirname "$(realpath "$0")")
cores=$(nproc)
lanes=1
for each in 4 16 "$cores"; do
  if [ "$each" -le "$cores" ] && [ "$each" -gt "${lanes##*,}" ]; then lanes=$lanes,$each; fi
done

grep -H . /sys/kernel/mm/transparent_hugepage/enabled /sys/devices/system/node/online 2>/dev/null || true
python3 "$here/compare.py" --lanes "$lanes" --program "$program" --rounds 4 --minutes 4.5 "$@"
printf '\nempty phases of %s lanes in one process\n' "$cores"
python3 "$here/empty_phases.py" "$program" --phases 300 --lanes "$cores"
printf '\nstart of %s workers of one lane each\n' "$cores"
"$program" selftest --spawn "$cores" --phases 40 | grep -E 'skew|fixed cost|lead' || true
printf '\nthe coordinator with many simulated clients\n'
"$here/scale.py" "$program" --workers 1000,2000 --phases 3 --threads
