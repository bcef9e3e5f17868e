# The system packages that cluster-iobench needs, and how each distribution installs them. Sourced by bootstrap.sh,
# which provides say(), warn(), die() and as_root().
#
# Tested on Debian 12; on Debian 13, `run` and the unit tests. The names for Ubuntu LTS and for RHEL 9 / Fedora follow
# their package lists and are untested; detect_distribution() says so.

detect_distribution() {
  [ -r /etc/os-release ] || die "there is no /etc/os-release: cannot tell which distribution this is." \
    "Install the packages that deploy/lib_packages.sh lists by hand, then use cmake --preset release."
  distribution=$(. /etc/os-release && printf '%s' "${ID:-unknown}")
  distribution_version=$(. /etc/os-release && printf '%s' "${VERSION_ID:-}")
  local like
  like=$(. /etc/os-release && printf '%s' "${ID_LIKE:-}")
  case " $distribution $like " in
    *" debian "* | *" ubuntu "*) family=debian ;;
    *" fedora "* | *" rhel "*) family=fedora ;;
    *) die "no package names are known for $distribution $distribution_version." \
         "Install what deploy/lib_packages.sh lists for Debian by hand, then use cmake --preset release." ;;
  esac
  case $distribution:$distribution_version in
    debian:12 | debian:13) ;;
    *) warn "$distribution $distribution_version: untested. The package names are those of its own package list;" \
         "Debian 12 is the reference." ;;
  esac
}

# Node.js and npm bundle the web page. Packages from nodejs.org's own repository hold both and conflict with Debian's
# npm, so whatever is installed is used.
page_packages() {
  command -v node > /dev/null 2>&1 && command -v npm > /dev/null 2>&1 && return
  printf '%s ' nodejs npm
}

# packages run|package|units|test -> names, one per word. run: what the program is built from; package: also what packages of it
# are made with; units: also what its unit tests need; test: also what all other tests need.
packages() {
  case $family in
    debian)
      printf '%s ' build-essential cmake ninja-build pkg-config \
        libgrpc++-dev protobuf-compiler-grpc libprotobuf-dev protobuf-compiler libabsl-dev \
        libopenmpi-dev openmpi-bin libspdlog-dev libcli11-dev nlohmann-json3-dev libyaml-cpp-dev libxxhash-dev liburing-dev \
        libnfs-dev libssl-dev zlib1g-dev libzstd-dev libxlsxwriter-dev libzip-dev libsqlite3-dev libncurses-dev $(page_packages)
      [ "$1" != package ] && [ "$1" != test ] || printf '%s ' file dpkg-dev rpm
      [ "$1" != units ] && [ "$1" != test ] || printf '%s ' catch2 python3
      [ "$1" != test ] || printf '%s ' prometheus python3-pytest python3-pytest-rerunfailures python3-jsonschema python3-yaml python3-grpcio openssl strace zstd xz-utils \
        user-mode-linux nfs-kernel-server nfs-common rpcbind kmod mount util-linux procps e2fsprogs dosfstools xfsprogs attr \
        openssh-server openssh-client iproute2 nfs-ganesha nfs-ganesha-vfs glusterfs-server glusterfs-client glusterfs-cli \
        python3-pandas python3-openpyxl python3-prometheus-client python3-markdown-it libreoffice-calc tmux chromium poppler-utils bonnie++ fio \
        man-db groff-base mandoc zsh fish \
        systemd ansible-core slurmctld slurmd slurm-client munge openssl
      ;;
    fedora)
      printf '%s ' gcc gcc-c++ make cmake ninja-build pkgconf-pkg-config \
        grpc-devel grpc-plugins protobuf-devel protobuf-compiler abseil-cpp-devel \
        openmpi openmpi-devel spdlog-devel cli11-devel json-devel yaml-cpp-devel xxhash-devel liburing-devel \
        openssl-devel zlib-devel libxlsxwriter-devel libzip-devel sqlite-devel ncurses-devel $(page_packages)
      # Not in RHEL's own repositories; without its library, the libnfs engine is not built.
      [ "$distribution" != fedora ] || printf '%s ' libnfs-devel
      [ "$1" != units ] && [ "$1" != test ] || printf '%s ' catch2-devel python3
      [ "$1" != test ] || printf '%s ' python3-pytest python3-pytest-rerunfailures python3-jsonschema python3-pyyaml python3-grpcio openssl strace zstd xz \
        nfs-utils rpcbind kmod util-linux procps-ng e2fsprogs dosfstools xfsprogs attr openssh-server openssh-clients iproute \
        python3-pandas python3-openpyxl python3-prometheus_client python3-markdown-it-py libreoffice-calc tmux chromium poppler-utils fio \
        man-db groff-base mandoc zsh fish systemd ansible-core slurm-slurmctld slurm-slurmd slurm munge openssl
      [ "$1" != test ] || [ "$distribution" != fedora ] || printf '%s ' nfs-ganesha nfs-ganesha-vfs bonnie++
      ;;
  esac
}

# Services that the tests' packages install, but that must not run.
service_units="nfs-server.service nfs-blkmap.service nfs-ganesha.service nfs-ganesha-lock.service rpcbind.socket \
  rpcbind.service ssh.service munge.service slurmctld.service slurmd.service glusterd.service glustereventsd.service prometheus.service"

# missing_packages NAMES... -> those that are not installed. Queries only the local database: no network, no lock.
missing_packages() {
  local name
  case $family in
    debian)
      local installed
      # A virtual package or one of another architecture is listed as "not-installed": only "installed" counts.
      installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
        sed -n 's/^installed //p' | tr '\n' ' ') "
      for name in "$@"; do
        case $installed in *" $name "*) ;; *) printf '%s ' "$name" ;; esac
      done
      ;;
    fedora)
      for name in "$@"; do
        rpm -q --quiet --whatprovides "$name" 2>/dev/null || printf '%s ' "$name"
      done
      ;;
  esac
}

install_packages() {
  say "installing: $*"
  [ "$(id -u)" = 0 ] || command -v sudo > /dev/null 2>&1 ||
    die "these packages are missing and cannot be installed without root or sudo:" "  $*" \
      "Run this script as root once, or ask the administrator of this machine to install them."
  case $family in
    debian) install_debian "$@" ;;
    fedora) install_fedora "$@" ;;
  esac
  local missing
  missing=$(missing_packages "$@")
  [ -z "$missing" ] || die "still not installed: $missing" "See the package manager's messages above."
}

install_debian() {
  local units_before name unknown=""
  # An old index causes 404 errors and a minimal image has none, so it is fetched once, only if something is missing.
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q ||
    die "apt-get update failed: no network, or a wrong mirror in /etc/apt/sources.list?"
  for name in "$@"; do
    apt-cache show --no-all-versions "$name" > /dev/null 2>&1 || unknown="$unknown $name"
  done
  [ -z "$unknown" ] || die "$distribution $distribution_version has no package named:$unknown" \
    "Could apt-get update reach the mirror (see its messages above)? Is the component 'main' (on Ubuntu also 'universe')" \
    "enabled in /etc/apt?"
  units_before=$(enabled_services)
  forbid_service_start
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    -o Dpkg::Use-Pty=0 "$@" < /dev/null; then
    allow_service_start
    die "apt-get could not install: $*" "See its messages above; 'apt-get -f install' repairs an incomplete installation."
  fi
  allow_service_start
  disable_new_services "$units_before"
}

install_fedora() {
  local manager=dnf
  command -v dnf > /dev/null 2>&1 || manager=yum
  if [ "$distribution" != fedora ]; then
    say "gRPC, spdlog, CLI11 and yaml-cpp come from EPEL and CodeReady Builder on $distribution"
    as_root $manager install -y epel-release ||
      warn "epel-release could not be installed; https://docs.fedoraproject.org/en-US/epel/ explains how"
    as_root $manager config-manager --set-enabled crb || warn "the repository crb could not be enabled"
  fi
  as_root $manager install -y "$@" < /dev/null ||
    die "$manager could not install: $*" "See its messages above."
}

# Debian starts a service when its package is installed. The tests need the programs of nfs-kernel-server, rpcbind and
# openssh-server only inside the lab's own hosts, never as a server on this machine. policy-rc.d is the documented way
# to prevent this; an existing one (as in containers) is kept.
policy_file=/usr/sbin/policy-rc.d
policy_is_ours=no

forbid_service_start() {
  [ -e $policy_file ] && return
  printf '#!/bin/sh\nexit 101\n' | as_root tee $policy_file > /dev/null || return
  policy_is_ours=yes
  trap allow_service_start EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  as_root chmod 755 $policy_file
}

allow_service_start() {
  [ $policy_is_ours = yes ] || return 0
  as_root rm -f $policy_file
  policy_is_ours=no
}

enabled_services() {
  local unit
  command -v systemctl > /dev/null 2>&1 || return 0
  for unit in $service_units; do
    systemctl is-enabled --quiet "$unit" 2> /dev/null && printf '%s ' "$unit"
  done
  return 0
}

# Disables services that the installation has enabled, because they would start at the next boot.
disable_new_services() {
  local unit new=""
  for unit in $(enabled_services); do
    case " $1 " in *" $unit "*) ;; *) new="$new $unit" ;; esac
  done
  [ -n "$new" ] || return 0
  as_root systemctl disable --quiet $new 2> /dev/null || true
  say "installed for the tests, and left disabled:$new"
}
