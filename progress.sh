#!/bin/sh
# Runs a command that installs packages, and shows how far it is: of what pip or apt-get says, a line
# for each package. If it fails, everything that it has said.
{
    "$@" 2>&1
    printf '\n%s\n' "--- exit status $?"
} | {
    said=""
    while IFS= read -r line; do
        case $line in "--- exit status "*) break ;; esac
        said="$said$line
"
        case $line in
            "Collecting "*) line=${line#Collecting } && echo "  ${line%% (*}" ;;
            "Processing "*) line=${line##*/} && echo "  ${line%-*-*-*.whl*}" ;;
            "Installing collected packages"*) echo "  Installing all of these ..." ;;
            "Get:"* | "Setting up "*) echo "  $line" ;;
        esac
    done
    status=${line#--- exit status }
    if [ "$status" != 0 ]; then printf '%s' "$said" >&2; fi
    exit "$status"
}
