#!/bin/sh
# Install tools/commit-msg as git's hook, unless one exists or this isn't the top of a git clone.
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$(pwd)" ] || exit 0
hooks=$(git rev-parse --git-path hooks)
[ -e "$hooks/commit-msg" ] && exit 0
mkdir -p "$hooks" && cp tools/commit-msg "$hooks/commit-msg"
