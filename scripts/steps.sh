# Functions shared by the scripts. Sourced, not run.
# shellcheck shell=bash

# Skipped steps, reported at the end.
skipped=()

step() {
    printf '\n== %s\n' "$*"
    local start=$SECONDS
    "$@"
    printf -- '-- done in %s s\n' $((SECONDS - start))
}

# Skips a step because this machine lacks something. In CI that is a failure.
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

# Installs what is missing. Arguments: COMMAND:PACKAGE, or PACKAGE for a package without commands.
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
        echo "everything is installed"
        return
    fi
    echo "installing ${missing[*]}"
    if ((EUID != 0)); then sudo=(sudo); fi
    if ! "${sudo[@]}" apt-get update -qq ||
        ! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; then
        skip "cannot install ${missing[*]}"
    fi
}
