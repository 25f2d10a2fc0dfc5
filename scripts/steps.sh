# What scripts/test and scripts/bench have in common. Sourced, not run.
# shellcheck shell=bash

step() {
    printf '\n== %s\n' "$*"
    local start=$SECONDS
    "$@"
    printf -- '-- done in %s s\n' $((SECONDS - start))
}

# Installs the packages whose commands are not there: COMMAND:PACKAGE…
install_missing() {
    local pair missing=() sudo=()
    for pair in "$@"; do
        command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
    done
    if ((${#missing[@]} == 0)); then
        echo "nothing is missing"
        return
    fi
    echo "installing ${missing[*]}"
    if ((EUID != 0)); then sudo=(sudo); fi
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}
