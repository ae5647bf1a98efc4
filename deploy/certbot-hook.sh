#!/bin/sh
# Gives the server, and nginx if it is in front, a certificate that certbot has renewed, without a
# restart: whoever connects from now on gets the new one, and nobody is disconnected. docs/operating.md tells where it belongs.
set -eu
folder=/etc/thudmud/tls
install -d -o root -g thudmud -m 0750 "$folder"
for file in fullchain.pem privkey.pem; do
    install -o root -g thudmud -m 0640 "$RENEWED_LINEAGE/$file" "$folder/$file"
done
for service in thudmud nginx; do
    if systemctl --quiet is-active "$service"; then
        systemctl reload "$service"
    fi
done
