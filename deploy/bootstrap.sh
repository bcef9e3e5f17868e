#!/usr/bin/env bash
# Sets up a machine for a first report, or for all tests. It can be repeated: existing set-up is kept.
set -euo pipefail

# A minimal image has no locale, cron jobs and containers have no HOME, and PATH may lack sbin.
export LC_ALL=C.UTF-8 PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
invoked_in=$PWD
cd "$(dirname -- "${BASH_SOURCE[0]}")/.."
root=$PWD

say() { printf '== %s\n' "$*"; }
warn() { printf '== note: %s\n' "$*" >&2; }
die() {
  printf 'bootstrap: %s\n' "$1" >&2
  shift
  [ $# = 0 ] || printf '           %s\n' "$@" >&2
  exit 1
}
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -- "$@"; fi
}

. deploy/lib_packages.sh

usage() {
  cat << 'END'
Usage: deploy/bootstrap.sh run [OPTION...]     install what is missing, build, benchmark a local directory with 4 lanes
       deploy/bootstrap.sh test [PRESET...]    the same set-up, then every test; presets: release (default) asan tsan debug.
                                               `test release asan` runs tests that need not run in both only in asan
       deploy/bootstrap.sh units [PRESET]        install what is missing for the unit tests, build and run them
       deploy/bootstrap.sh build                 install what is missing and build, in build/release
       deploy/bootstrap.sh package               the same as build, then the Debian package, the RPM package and the
                                                 self-contained tarball in build/release/packages; prints their names
       deploy/bootstrap.sh packages run|units|test|package   print the packages that are needed and those that are missing

GRPC=PREFIX before it builds with the gRPC there (1.60 or newer) instead of the distribution's.
run:   options are passed to cluster-iobench (see cluster-iobench run --help), e.g. --path /mnt/nfs -s 1g
It needs root or sudo only if packages are missing. Everything it creates is in build/.
END
}

# Each compiler process needs up to 1.5 GiB: fewer at a time is better than swapping.
build_jobs() {
  local processors memory_kib
  processors=$(nproc)
  memory_kib=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
  local fit=$((${memory_kib:-0} / 1572864))
  [ "$fit" -ge 1 ] || fit=1
  [ "$fit" -le "$processors" ] || fit=$processors
  printf '%s' "$fit"
}

set_up() {
  detect_distribution
  local missing
  missing=$(missing_packages $(packages "$1"))
  [ -z "$missing" ] || install_packages $missing
  if [ "$family" = fedora ] && [ -d /usr/lib64/openmpi/bin ]; then
    export PATH="/usr/lib64/openmpi/bin:$PATH"     # on Fedora and RHEL, MPI is an environment module
  fi
  if command -v ccache > /dev/null 2>&1; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
    [ -n "${HOME:-}" ] || export CCACHE_DIR="$root/build/ccache"
  fi
}

# is_of_this_clone PRESET: the build tree was configured here, and not before the clone was moved or copied.
is_of_this_clone() {
  local home
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "build/$1/CMakeCache.txt" 2> /dev/null)
  [ "$home" -ef "$root" ]
}

# is_configured PRESET ON|OFF ON|OFF: the build tree exists, with or without tests, and with or without unit tests.
is_configured() {
  local cache="build/$1/CMakeCache.txt"
  is_of_this_clone "$1" && [ -f "build/$1/build.ninja" ] && grep -q "^IOBENCH_TESTS:BOOL=$2\$" "$cache" &&
    grep -q "^IOBENCH_UNIT_TESTS:BOOL=$3\$" "$cache"
}

# build PRESET ON|OFF [TARGET...]: with tests or without. Tests need more packages than the program, so `run` omits
# them. `unit_tests`: OFF leaves out the unit tests.
build() {
  local preset=$1 tests=$2 units=${unit_tests:-ON}
  shift 2
  if ! is_configured "$preset" "$tests" "$units" 2> /dev/null; then
    say "configuring preset $preset"
    # CMake refuses another clone's cache.
    is_of_this_clone "$preset" || rm -f "build/$preset/CMakeCache.txt"
    # The tests require every engine whose packages are listed; otherwise an engine that was not built would be skipped
    # silently.
    local -a insist=()
    [ "$tests" = ON ] && insist+=(-DIOBENCH_PAGE=ON)
    [ "$tests" = ON ] && [[ $(packages test) == *libnfs* ]] && insist+=(-DIOBENCH_LIBNFS=ON)
    [ "$tests" = ON ] && [[ $(packages test) == *libxlsxwriter* ]] && insist+=(-DIOBENCH_WORKBOOK=ON)
    [ "$tests" = ON ] && [[ $(packages test) == *libsqlite3* ]] && insist+=(-DIOBENCH_SQLITE=ON)
    # Warnings are errors only with the tests: another compiler may warn of code that is right, and that must not end
    # somebody's first build.
    [ -z "${GRPC:-}" ] || insist+=("-DIOBENCH_GRPC=$GRPC")
    cmake --preset "$preset" -DIOBENCH_TESTS="$tests" -DIOBENCH_WERROR="$tests" -DIOBENCH_UNIT_TESTS="$units" "${insist[@]}"
  fi
  say "building preset $preset"
  cmake --build --preset "$preset" --parallel "$(build_jobs)" ${1:+--target "$@"}
}

# said PATTERN: matches a word of `user`.
said() {
  local word
  for word in "${user[@]}"; do
    # shellcheck disable=SC2053
    [[ $word == $1 ]] && return 0
  done
  return 1
}

# add_defaults: adds the defaults to `options`. One applies only if the words of `user` neither set the option nor exclude
# it (coordinator/options/option_rules.cc, cluster_options.cc). A plan sets everything except the path.
add_defaults() {
  # Letters without an argument may stand before others in one word: -Raz.
  local before='-*([AaBCcDEeGIKMmNOopQRTWwxZz])'
  local list='-+m*|--client-list*' file="${before}f*|--file|--file=*" files="${before}F*|--files|--files=*|--existing*"
  said "@(--transport*|--spawn*|--listen*|--hosts*|$list)" || options+=(--transport local)
  if ! said '@(--plan*|--suite*)'; then
    said "@(${before}[taAuN]*|--lanes*|--auto*|--max-lanes*|--show-latency|$file|$list)" || options+=(--lanes 4)
    # With selected operations, the program's own defaults apply, because not all of these options suit every operation.
    if ! said "@(${before}[iaAE]*|--op|--op=*|--auto*|--extended|--mix|--mix=*|-+t|--net-test)"; then
      options+=(--op write --op read --op random-read --close-in-timing --fsync-in-timing)
    fi
  fi
  case ${user[0]:-} in
    . | .. | /* | ./* | ../* | nfs://*) ;;     # a directory needs no --path before it
    *) said "@(--path*|$file|$files|$list)" || options+=(--path "$path") ;;
  esac
  said '--out*' || options+=(--out "$out")
}

# tests_of_release: ON if build/release was configured with tests. It also builds the program; it is not reconfigured.
tests_of_release() {
  if is_of_this_clone release && grep -qs '^IOBENCH_TESTS:BOOL=ON$' build/release/CMakeCache.txt; then echo ON; else echo OFF; fi
}

run() {
  set_up run
  build release "$(tests_of_release)" cluster-iobench cluster-iobench-mpi
  local path="$root/build/try" out
  out="$root/build/results/$(date -u +%Y%m%dT%H%M%SZ)-$$"
  mkdir -p "$path" "$root/build/results"
  local -a options=() user=("$@")
  # A resumed run has everything from the saved one.
  said '@(--resume|--resume=*)' || add_defaults
  options+=(--progress)
  say "$root/build/release/cluster-iobench ${options[*]} $*"
  cd -- "$invoked_in"     # relative paths in the options are the user's
  exec "$root/build/release/cluster-iobench" "${options[@]}" "$@"     # it prints where the report's files are
}

package() {
  detect_distribution
  [ "$family" = debian ] || die "packages are built on Debian 12 or 13, whose libraries have archives; those for $distribution have not." \
    "The RPM package and the tarball that are built there run here."
  set_up package
  build release "$(tests_of_release)" packages
  printf '%s\n' build/release/packages/*
}

# exec_in_idle_time COMMAND...: becomes COMMAND, which gets the processors only when nobody else needs them. It has a
# session of its own, because kernels with autogroups share processors between sessions first: the priorities within a
# session do not count for the programs of others.
exec_in_idle_time() {
  # shellcheck disable=SC2016
  exec setsid bash -c '{ echo 19 > /proc/self/autogroup; } 2> /dev/null
                       if chrt --idle 0 true 2> /dev/null; then exec chrt --idle 0 "$@"; fi
                       exec nice -n 19 "$@"' idle "$@"
}

# run_ctest PRESET [OPTION...]: a test that needed another attempt is listed, although it passed, and one that was skipped
# with its reason (tests/CMakeLists.txt).
run_ctest() {
  local log="$root/build/$1/Testing/Temporary/LastTest.log" status=0
  ctest --preset "$@" < /dev/null || status=$?
  [ ! -r "$log" ] || sed -n "/^_* failed first: /,/^=* rerun test summary info/p; s/^RERUN /== needed another attempt: /p; s/^SKIPPED /== not tested: /p" "$log"
  return "$status"
}

has_sanitizer() { [[ $1 = *san ]]; }

# test_preset PRESET [NEXT]: runs the tests of PRESET and builds NEXT. Sets `failed`.
test_preset() {
  local preset=$1 next=${2:-} labs="build/$1/tests/lab" left_out=lab building=""
  say "testing preset $preset"
  if has_sanitizer "$preset" || [ ! -d "$labs" ]; then
    [ -z "$next" ] || build "$next" ON
    run_ctest "$preset" || failed="$failed $preset"
    return
  fi
  if [ -n "$next" ]; then
    # Many tests wait most of their time.
    say "building preset $next in idle time, see build/$next.log"
    exec_in_idle_time "$root/deploy/bootstrap.sh" build-tests "$next" > "build/$next.log" 2>&1 < /dev/null &
    building=$!
    trap "kill -- -$building 2> /dev/null || true" EXIT
    ! has_sanitizer "$next" || left_out="lab|once"
  fi
  run_ctest "$preset" --label-exclude "$left_out" || failed="$failed $preset"
  # Labs run concurrently, but not beside other tests, which keep processors busy. Their hosts wait for each other, so
  # more labs than processors are faster.
  run_ctest "$preset" --label-regex lab --parallel "$((2 * $(nproc) + 1))" || failed="$failed $preset-lab"
  if [ -n "$building" ]; then
    say "waiting for preset $next"
    wait "$building" || { cat "build/$next.log" >&2; die "preset $next cannot be built"; }
    trap - EXIT
  fi
}

run_tests() {
  set_up test
  local failed="" preset unit_tests=ON
  if ! has_sanitizer "$1" && has_sanitizer "${2:-}"; then
    say "unit tests, and other tests with the label once, run in preset $2 only"
    unit_tests=OFF
  fi
  build "$1" ON
  unit_tests=ON
  for preset in "$@"; do
    shift
    test_preset "$preset" "$@"
  done
  [ -z "$failed" ] || die "tests failed in:$failed" "Details: build/<preset>/Testing/Temporary/LastTest.log"
  say "all tests passed"
}

run_units() {
  set_up units
  build "$1" ON
  run_ctest "$1" --tests-regex '^unit\.' || die "unit tests failed in: $1" "Details: build/$1/Testing/Temporary/LastTest.log"
  say "all unit tests passed"
}

case ${1:-} in
  package) package ;;
  build)
    set_up run
    build release OFF
    ;;
  run)
    shift
    run "$@"
    ;;
  test)
    shift
    [ $# -gt 0 ] || set -- release
    run_tests "$@"
    ;;
  units) run_units "${2:-release}" ;;
  build-tests)     # used by test_preset
    set_up test
    build "$2" ON
    ;;
  packages)
    detect_distribution
    say "needed: $(packages "${2:-test}")"
    say "missing: $(missing_packages $(packages "${2:-test}"))"
    ;;
  -h | --help) usage ;;
  *)
    usage >&2
    exit 1
    ;;
esac
