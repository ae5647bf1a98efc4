#!/bin/sh
# Installs what is missing of the clients that the end to end tests drive, from Debian's packages.
set -eu
PATH="$PATH:/usr/games" # where Debian keeps TinTin++
missing=""
for each in telnet:inetutils-telnet plink:putty-tools nc:netcat-openbsd tt++:tintin++ tf:tf5 node:nodejs; do
    command -v "${each%%:*}" >/dev/null || missing="$missing ${each#*:}"
done
if [ -z "$missing" ]; then exit 0; fi
if ! command -v apt-get >/dev/null; then
    echo "The tests drive real clients. Please install what Debian calls:$missing" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo"; fi
echo "Installing the clients that the tests drive:$missing (a minute or so) ..."
progress="$(dirname "$0")/../progress.sh"
sh "$progress" $as_root apt-get update -q
# shellcheck disable=SC2086  (a list of words)
sh "$progress" $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends $missing
