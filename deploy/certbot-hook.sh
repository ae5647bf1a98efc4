#!/bin/sh
# Install a certificate that certbot has renewed, and reload the server, and nginx or HAProxy if they
# run. New connections get the new certificate; nobody is disconnected. See docs/operating.md for setup.
set -eu
folder=/etc/thudmud/tls
install -d -o root -g thudmud -m 0750 "$folder"
for file in fullchain.pem privkey.pem; do
    install -o root -g thudmud -m 0640 "$RENEWED_LINEAGE/$file" "$folder/$file"
done
# HAProxy wants the certificate and its key in one file, named after the certificate.
haproxy=${HAPROXY_FOLDER:-/etc/haproxy}
if [ -d "$haproxy" ]; then
    cat "$RENEWED_LINEAGE/fullchain.pem" "$RENEWED_LINEAGE/privkey.pem" |
        install -m 0600 /dev/stdin "$haproxy/$(basename "$RENEWED_LINEAGE").pem"
fi
status=0
for service in thudmud nginx haproxy; do
    if systemctl --quiet is-active "$service"; then
        systemctl reload "$service" || status=1
    fi
done
exit $status
