# Functions shared by the scripts. Sourced, not run.
# shellcheck shell=bash

# Skipped steps and tests, one a line, reported at the end. A file, so that steps side by side can add to it.
skipped=$(mktemp)
trap 'end_steps' EXIT

end_steps() {
    local job
    for job in $(jobs -p); do kill "$job" 2>/dev/null || true; done
    rm -f "$skipped"
}

step() {
    printf '\n== %s\n' "$*"
    local start=$SECONDS
    "$@"
    printf -- '-- done in %s s\n' $((SECONDS - start))
}

# Runs a step if all of its tools are installed: step_with TOOL… -- COMMAND…
step_with() {
    local missing=()
    while [[ $1 != -- ]]; do
        command -v "$1" >/dev/null || missing+=("$1")
        shift
    done
    shift
    if ((${#missing[@]} == 0)); then
        step "$@"
    else
        skip "$*: not installed: ${missing[*]}"
    fi
}

# Runs commands side by side. Each prints its output as a whole, in the order given; fails if one of them does.
together() {
    local outputs number=0 failed=() pids=() start=$SECONDS
    outputs=$(mktemp -d)
    printf '\n== side by side: %s\n' "$*"
    for command in "$@"; do
        "$command" >"$outputs/$number" 2>&1 &
        pids+=($!)
        number=$((number + 1))
    done
    for ((number = 0; number < ${#pids[@]}; number++)); do
        wait "${pids[number]}" || failed+=("${@:number+1:1}")
        cat "$outputs/$number"
    done
    rm -r "$outputs"
    if ((${#failed[@]})); then
        echo "FAILED: ${failed[*]}"
        exit 1
    fi
    printf -- '-- all of them done in %s s\n' $((SECONDS - start))
}

# Skips a step because this machine lacks something. In CI that is a failure.
skip() {
    if [[ -n ${CI:-} ]]; then
        echo "FAILED: $*"
        exit 1
    fi
    echo "SKIPPED: $*" | tee -a "$skipped"
}

report_skipped() { sort -u "$skipped"; }

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
