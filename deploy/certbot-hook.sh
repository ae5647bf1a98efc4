#!/bin/sh
# Install a certificate that certbot has renewed, and reload the server, and nginx if it runs. New
# connections get the new certificate; nobody is disconnected. See docs/operating.md for setup.
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
