#!/bin/sh
# Installs what is missing of the clients, a browser and a database among them, that the tests need, and what looks over the
# unit of systemd, from Debian's packages. What would start services or daily jobs is only unpacked, into build/unpacked: there
# the tests find promtool (a download of 19 MB, 50 on the disk), fail2ban-regex and logrotate, which takes libpopt.
set -eu
# Where Debian keeps TinTin++, HAProxy, nginx, logrotate, and the server of PostgreSQL.
PATH="$PATH:/usr/games:/usr/sbin:$(printf %s: /usr/lib/postgresql/*/bin)"
missing=""
for each in telnet:inetutils-telnet plink:putty-tools nc:netcat-openbsd tt++:tintin++ tf:tf5 node:nodejs npm:npm chromium-headless-shell:chromium-headless-shell postgres:postgresql haproxy:haproxy nginx:nginx systemd-analyze:systemd lua5.1:lua5.1 luac5.1:lua5.1; do
    command -v "${each%%:*}" >/dev/null || missing="$missing ${each#*:}"
done
unpacked="$(cd "$(dirname "$0")/.." && pwd)/build/unpacked"
packed=""
for each in bin/promtool:prometheus bin/fail2ban-regex:fail2ban sbin/logrotate:logrotate sbin/logrotate:libpopt0; do
    name="${each%%:*}"
    test -e "$unpacked/usr/$name" || command -v "${name#*/}" >/dev/null || packed="$packed ${each#*:}"
done
if [ -z "$missing$packed" ]; then exit 0; fi
if ! command -v apt-get >/dev/null; then
    echo "The tests drive real clients. Please install what Debian calls:$missing$packed" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo"; fi
echo "Installing the clients that the tests drive:$missing$packed (a minute or so) ..."
progress="$(cd "$(dirname "$0")/../tools" && pwd)/progress.sh"
sh "$progress" $as_root apt-get update -q
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086  (a list of words)
    sh "$progress" $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends $missing
fi
if [ -n "$packed" ]; then
    folder="$(mktemp -d)"
    trap 'rm -rf "$folder"' EXIT
    cd "$folder"
    # shellcheck disable=SC2086  (the same)
    sh "$progress" apt-get download -q $packed
    mkdir "$folder/files" && mkdir -p "$unpacked"
    for each in "$folder"/*.deb; do
        case "$each" in
        */prometheus_*) dpkg-deb --fsys-tarfile "$each" | tar -x -C "$folder/files" ./usr/bin/promtool ;;
        *) dpkg-deb -x "$each" "$folder/files" ;;
        esac
    done
    cp -R "$folder/files/." "$unpacked/"
fi
