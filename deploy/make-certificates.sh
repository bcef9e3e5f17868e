#!/usr/bin/env bash
# Creates what long-lived workers and their coordinators need to trust each other: a CA, certificates and a token. Uses
# openssl. Existing files are kept, so running it again adds what is missing.
set -euo pipefail
umask 077

usage() {
  cat << 'END'
Usage: deploy/make-certificates.sh [--days N] DIR NAME...            the CA, the coordinator's certificate, a token
       deploy/make-certificates.sh [--days N] DIR --worker NAME...   a certificate for each of these workers
       deploy/make-certificates.sh [--days N] DIR --revoke [FILE...] the revocation list, with these certificates added

Writes into DIR:
  ca.pem, ca.key                      the certificate authority, for ten years; keep ca.key offline
  coordinator.pem, coordinator.key    the coordinator's certificate, valid for every NAME (host names, IP addresses)
  token                               for workers: the token, then the certificate of the CA
  worker-NAME.pem, worker-NAME.key    the certificate of a worker
  crl.pem, index.txt                  the revocation list; replaced by --revoke
Certificates and the list are valid for N days (default 365): make the list anew before that.

Coordinator:  cluster-iobench run --listen :9400 --tls-cert DIR/coordinator.pem --tls-key DIR/coordinator.key \
                  --token-file DIR/token --workers N --path ...
Worker:       cluster-iobench worker --join NAME:9400 --token-file token --root ...
or, with certificates on both sides:
Coordinator:  ... --tls-ca DIR/ca.pem --tls-crl DIR/crl.pem
Worker:       ... --tls-cert worker-NAME.pem --tls-key worker-NAME.key --tls-ca ca.pem --tls-crl crl.pem
END
}

fail() {
  echo "make-certificates.sh: $1" >&2
  exit 1
}

case ${1:-} in
  -h | --help)
    usage
    exit 0
    ;;
esac
days=365
if [ "${1:-}" = --days ]; then
  days=${2:-}
  [[ $days =~ ^[1-9][0-9]{0,4}$ ]] || fail "--days needs a number of days"
  shift 2
fi
if [ $# -lt 2 ]; then
  usage >&2
  exit 1
fi
command -v openssl > /dev/null || fail "openssl is missing: install it"

dir=$1
shift
mode=coordinator
case $1 in
  --worker | --revoke)
    mode=${1#--}
    shift
    ;;
esac
[ "$mode" = revoke ] || [ $# -gt 0 ] || fail "--worker needs the names of workers"

is_address() { [[ $1 == *:* || $1 =~ ^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$ ]]; }
new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

need_ca_key() { [ -e ca.key ] || fail "$PWD/ca.key is missing: bring it back from where you keep it"; }

# check_pair NAME: succeeds if NAME.pem and NAME.key exist, fails if neither does.
check_pair() {
  [ -e "$1.pem" ] || [ -e "$1.key" ] || return 1
  [ -e "$1.pem" ] || fail "$PWD/$1.key is there without $1.pem: restore that, or remove the key"
  [ -e "$1.key" ] || fail "$PWD/$1.pem is there without $1.key: restore that, or remove the certificate"
}

# check_names FILE NAME...: the certificate is valid for each of them.
check_names() {
  local file=$1 name
  shift
  openssl x509 -in "$file" -noout -checkend 0 > /dev/null || fail "$PWD/$file has expired: remove it and its key"
  for name in "$@"; do
    if is_address "$name"; then
      openssl x509 -in "$file" -noout -checkip "$name"
    else
      openssl x509 -in "$file" -noout -checkhost "$name"
    fi | grep -q 'does match' ||
      fail "$PWD/$file exists and is not valid for $name: remove it and its key for one that is valid for: $*"
  done
}

# sign NAME SUBJECT USAGE HOST...
sign() {
  local name=$1 subject=$2 usage=$3 host hosts=""
  shift 3
  need_ca_key
  for host in "$@"; do
    if is_address "$host"; then hosts="$hosts,IP:$host"; else hosts="$hosts,DNS:$host"; fi
  done
  new_key "$name.key"
  openssl req -new -key "$name.key" -subj "/CN=$subject" -out "$name.csr"
  openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -sha256 -days "$days" -out "$name.pem" \
    -extfile <(printf '%s\n' basicConstraints=critical,CA:FALSE keyUsage=critical,digitalSignature \
      "subjectAltName=${hosts#,}" "extendedKeyUsage=$usage") 2> /dev/null
  rm -f "$name.csr"
}

if [ "$mode" != revoke ]; then
  for name in "$@"; do
    case $name in
      *[!A-Za-z0-9.:_-]* | -* | . | .. | "") fail "'$name' is neither a host name nor an IP address" ;;
    esac
  done
fi
start=$PWD
mkdir -p -- "$dir"
cd -- "$dir"
# Somebody else who may write here could put a link in the place of a key.
case $(ls -ldn .) in
  ?????w* | ????????w*) open=yes ;;
  *) open=no ;;
esac
if [ ! -O . ] || [ $open = yes ]; then
  fail "others may write to $dir: use a directory of your own (chmod go-w)"
fi

if [ ! -e ca.pem ]; then
  [ ! -e ca.key ] || fail "$PWD/ca.key is there without ca.pem: restore that, or remove the key"
  [ "$mode" = coordinator ] || fail "$PWD has no CA: make one first, with the coordinator's certificate"
  new_key ca.key
  openssl req -x509 -new -key ca.key -sha256 -days 3650 -subj "/CN=cluster-iobench CA" -out ca.pem \
    -addext basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign,cRLSign
fi

case $mode in
  coordinator)
    if check_pair coordinator; then
      check_names coordinator.pem "$@"
    else
      sign coordinator "cluster-iobench coordinator" serverAuth "$@"
    fi
    if [ ! -e token ]; then
      { openssl rand -base64 32 | tr '+/' '-_' | tr -d '=\n' && echo && cat ca.pem; } > token
    fi
    printf 'wrote %s\n' "$PWD/token" "$PWD/coordinator.pem" "$PWD/coordinator.key" "$PWD/ca.pem"
    ;;
  worker)
    for name in "$@"; do
      if check_pair "worker-$name"; then
        check_names "worker-$name.pem" "$name"
      else
        sign "worker-$name" "$name" clientAuth "$name"
      fi
      printf 'wrote %s\n' "$PWD/worker-$name.pem" "$PWD/worker-$name.key"
    done
    ;;
  revoke)
    need_ca_key
    touch index.txt
    authority=(openssl ca -cert ca.pem -keyfile ca.key -md sha256)
    settings=$(printf '%s\n' '[ca]' 'default_ca=own' '[own]' 'database=index.txt')
    for file in "$@"; do
      case $file in /*) ;; *) file=$start/$file ;; esac
      said=$("${authority[@]}" -config <(echo "$settings") -revoke "$file" 2>&1) || [[ $said == *"lready revoked"* ]] ||
        fail "$file cannot be revoked: ${said##*$'\n'}"
    done
    "${authority[@]}" -config <(echo "$settings") -gencrl -crldays "$days" -out crl.new 2> /dev/null ||
      fail "openssl cannot write the revocation list"
    mv -f crl.new crl.pem
    printf 'wrote %s\n' "$PWD/crl.pem"
    ;;
esac
