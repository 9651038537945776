# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart and check: installs Debian packages that are missing.
build_packages="gcc make autoconf automake libtool pkg-config libc6-dev libltdl-dev libjansson-dev libyaml-dev nettle-dev libpcre2-dev
    libcurl4-openssl-dev python3 git xz-utils"

# as_root COMMAND...: as it is, or through sudo.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# install_packages NAME...: asks the network only if one is missing.
install_packages() {
    local missing="" name
    for name in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing="$missing $name"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || { echo "these packages are needed, and this is no Debian:$missing" >&2; return 1; }
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        echo "these packages are missing, and there is no sudo to install them with:$missing" >&2
        return 1
    fi
    echo "installing$missing"
    # shellcheck disable=SC2086
    { as_root apt-get update -q && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing; } \
        >"${PACKAGES_LOG:-/dev/null}" 2>&1 || { [ -z "${PACKAGES_LOG:-}" ] || tail -n 20 "$PACKAGES_LOG" >&2; return 1; }
}
