#!/bin/sh
# Installs what is missing of the clients, a browser and a database among them, that the tests need, and what looks over the
# unit of systemd, from Debian's packages.
set -eu
# Where Debian keeps TinTin++, HAProxy, nginx, and the server of PostgreSQL.
PATH="$PATH:/usr/games:/usr/sbin:$(printf %s: /usr/lib/postgresql/*/bin)"
missing=""
for each in telnet:inetutils-telnet plink:putty-tools nc:netcat-openbsd tt++:tintin++ tf:tf5 node:nodejs npm:npm chromium-headless-shell:chromium-headless-shell postgres:postgresql haproxy:haproxy nginx:nginx systemd-analyze:systemd lua5.1:lua5.1 luac5.1:lua5.1; do
    command -v "${each%%:*}" >/dev/null || missing="$missing ${each#*:}"
done
if [ -z "$missing" ]; then exit 0; fi
if ! command -v apt-get >/dev/null; then
    echo "The tests drive real clients. Please install what Debian calls:$missing" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo"; fi
echo "Installing the clients that the tests drive:$missing (a minute or so) ..."
progress="$(dirname "$0")/../tools/progress.sh"
sh "$progress" $as_root apt-get update -q
# shellcheck disable=SC2086  (a list of words)
sh "$progress" $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends $missing
