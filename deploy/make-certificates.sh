#!/usr/bin/env bash
# Creates what long-lived workers and their coordinators need to trust each other: a CA, the coordinator's certificate
# and a token. Uses openssl. Existing files are kept, so running it again adds what is missing.
set -euo pipefail
umask 077

usage() {
  cat << 'END'
Usage: deploy/make-certificates.sh DIR NAME...

Writes into DIR:
  ca.pem, ca.key                      the certificate authority; keep ca.key offline
  coordinator.pem, coordinator.key    the coordinator's certificate, valid for every NAME (host names, IP addresses)
  token                               for workers: the token, then the certificate of the CA

Coordinator:  cluster-iobench run --listen :9400 --tls-cert DIR/coordinator.pem --tls-key DIR/coordinator.key \
                  --token-file DIR/token --workers N --path ...
Worker:       cluster-iobench worker --join NAME:9400 --token-file token --root ...
END
}

case ${1:-} in
  -h | --help)
    usage
    exit 0
    ;;
esac
if [ $# -lt 2 ]; then
  usage >&2
  exit 1
fi
command -v openssl > /dev/null || { echo "make-certificates.sh: openssl is missing: install it" >&2; exit 1; }

dir=$1
shift
mkdir -p -- "$dir"
cd -- "$dir"
# Somebody else who may write here could put a link in the place of a key.
case $(ls -ldn .) in
  ?????w* | ????????w*) open=yes ;;
  *) open=no ;;
esac
if [ ! -O . ] || [ $open = yes ]; then
  echo "make-certificates.sh: others may write to $dir: use a directory of your own (chmod go-w)" >&2
  exit 1
fi

subject_names=""
for name in "$@"; do
  case $name in
    *[!A-Za-z0-9.:_-]* | -* | . | ..)
      echo "make-certificates.sh: '$name' is neither a host name nor an IP address" >&2
      exit 1
      ;;
    *:* | [0-9]*.[0-9]*.[0-9]*.[0-9]*) subject_names="$subject_names,IP:$name" ;;
    *) subject_names="$subject_names,DNS:$name" ;;
  esac
done

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

if [ ! -e ca.pem ]; then
  new_key ca.key
  openssl req -x509 -new -key ca.key -sha256 -days 3650 -subj "/CN=cluster-iobench CA" -out ca.pem \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
fi
if [ ! -e coordinator.pem ]; then
  new_key coordinator.key
  openssl req -new -key coordinator.key -subj "/CN=cluster-iobench coordinator" -out coordinator.csr
  openssl x509 -req -in coordinator.csr -CA ca.pem -CAkey ca.key -CAcreateserial -sha256 -days 825 -out coordinator.pem \
    -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth\n' "${subject_names#,}") 2> /dev/null
  rm -f coordinator.csr
fi
if [ ! -e token ]; then
  { openssl rand -base64 32 | tr '+/' '-_' | tr -d '=\n' && echo && cat ca.pem; } > token
fi
printf 'wrote %s\n' "$PWD/token" "$PWD/coordinator.pem" "$PWD/coordinator.key" "$PWD/ca.pem"
