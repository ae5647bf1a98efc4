#!/bin/sh
# Installs the telnet client that the end to end tests drive, where Debian's packages are to be had.
set -eu
if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo"; fi
if ! command -v apt-get >/dev/null; then
    echo "The tests drive a telnet client: please install inetutils-telnet." >&2
    exit 1
fi
$as_root apt-get update -qq
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y inetutils-telnet
