# Sourced by packaging/run and packaging/test, which set $mode and $root. POSIX shell (dash, bash
# 3.2): starts the application at once where everything is set up, else finds a Python and hands
# over to packaging/set_up.py. Everything it says goes to stderr.

trap 'exit 130' INT

say() { printf '%s\n' "$*" >&2; }

# Where stdin or stderr are closed, files opened later would take their place.
(: <&0) 2>/dev/null || exec </dev/null
(: >&2) 2>/dev/null || exec 2>/dev/null

# What this set-up was made from and where; packaging/set_up.py stores it when all is in place.
key=$(cat "$root/pyproject.toml" "$root/packaging/set_up.py" "$root"/packaging/steps/*.py \
    "$root"/resources/translations/*.ts 2>/dev/null | cksum)
key="$key $root"

if [ "$mode" = run ] && [ -z "${PYTHON-}${PORTHOLE_LLAMA_WHEELS-}${PORTHOLE_RETRY_LLAMA-}" ] &&
    [ -x "$root/.venv/bin/python" ] && [ -f "$root/.venv/porthole/ready" ] &&
    [ "$(cat "$root/.venv/porthole/ready")" = "$key" ]; then
    unset PORTHOLE_LLAMA_WHEELS PORTHOLE_RETRY_LLAMA
    exec "$root/.venv/bin/porthole" "$@"
fi

# A Python is taken when it is new enough and can make a virtual environment with pip in it.
new_enough='import sys; sys.exit(sys.version_info < (3, 11))'
complete='import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))'
python='' incomplete=''

try_python() {
    [ -z "$python" ] && command -v "$1" >/dev/null 2>&1 || return 0
    if "$1" -c "$complete" >/dev/null 2>&1; then
        python=$1
    elif [ -z "$incomplete" ] && "$1" -c "$new_enough" >/dev/null 2>&1; then
        incomplete=$1
    fi
}

find_python() {
    if [ -n "${PYTHON-}" ]; then
        try_python "$PYTHON"
        return
    fi
    try_python "$root/.venv/bin/python"
    for name in python3.13 python3.12 python3.11 python3.14 python3; do
        try_python "$name"
    done
    try_python /opt/homebrew/bin/python3
    try_python /usr/local/bin/python3
}

# Debian and Ubuntu keep `ensurepip` in a package of its own.
debian_packages() {
    if [ -n "$incomplete" ]; then
        "$incomplete" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'
    else
        say_ubuntu_22 || echo python3 python3-venv
    fi
}

# Ubuntu 22.04's own python3 is too old, and it has a newer one beside it.
say_ubuntu_22() {
    grep -q '^VERSION_ID="22.04"' /etc/os-release 2>/dev/null && echo python3.11 python3.11-venv
}

install_python() { # as root on Debian and Ubuntu
    say "Installing $1 with apt-get ..."
    log=$(mktemp)
    # shellcheck disable=SC2086 # several packages
    if { DEBIAN_FRONTEND=noninteractive apt-get update &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $1; } \
        >"$log" 2>&1 </dev/null; then
        rm -f "$log"
        find_python
    else
        tail -n 5 "$log" >&2
        say "apt-get failed; all it said is in $log."
    fi
}

refuse() {
    say "$1"
    exit 3
}

find_python
if [ -z "$python" ]; then
    if [ -n "${PYTHON-}" ]; then
        refuse "PYTHON=$PYTHON is not a Python 3.11 or newer that can make virtual environments."
    elif command -v apt-get >/dev/null 2>&1; then
        packages=$(debian_packages)
        [ "$(id -u)" = 0 ] && install_python "$packages"
        [ -n "$python" ] || refuse \
            "Porthole needs Python 3.11 or newer with venv: sudo apt-get install $packages"
    elif command -v dnf >/dev/null 2>&1; then
        refuse "Porthole needs Python 3.11 or newer: sudo dnf install python3"
    elif [ "$(uname)" = Darwin ]; then
        refuse "Porthole needs Python 3.11 or newer: brew install python (or use the installer from Python's own site)"
    else
        refuse "Porthole needs Python 3.11 or newer with the venv and ensurepip modules."
    fi
fi

exec "$python" "$root/packaging/set_up.py" "$mode" "$key" "$@"
