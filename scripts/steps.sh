# What the scripts here have in common. Sourced, not run.
# shellcheck shell=bash

# What was left out, for the end.
skipped=()

step() {
    printf '\n== %s\n' "$*"
    local start=$SECONDS
    "$@"
    printf -- '-- done in %s s\n' $((SECONDS - start))
}

# Leaves something out because of what this machine lacks. In CI nothing may be left out.
skip() {
    if [[ -n ${CI:-} ]]; then
        echo "FAILED: $*"
        exit 1
    fi
    echo "SKIPPED: $*"
    skipped+=("$*")
}

report_skipped() {
    local what
    for what in "${skipped[@]}"; do echo "SKIPPED: $what"; done
}

# Installs what is missing: COMMAND:PACKAGE… or, for a package without commands, PACKAGE…
install_missing() {
    local wanted missing=() sudo=()
    for wanted in "$@"; do
        if [[ $wanted == *:* ]]; then
            command -v "${wanted%%:*}" >/dev/null || missing+=("${wanted#*:}")
        else
            dpkg-query --show --showformat='${db:Status-Status}' "$wanted" 2>/dev/null | grep -qx installed ||
                missing+=("$wanted")
        fi
    done
    if ((${#missing[@]} == 0)); then
        echo "nothing is missing"
        return
    fi
    echo "installing ${missing[*]}"
    if ((EUID != 0)); then sudo=(sudo); fi
    if ! "${sudo[@]}" apt-get update -qq ||
        ! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; then
        skip "cannot install ${missing[*]}"
    fi
}
