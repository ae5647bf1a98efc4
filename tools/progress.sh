#!/bin/sh
# Run a command that installs packages, and show its progress: one line for each package of pip's or
# apt-get's output. If the command fails, print all of its output.
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
