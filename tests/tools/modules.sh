#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What every shipped tool must be: a module without undefined symbols of ours, described in its file and its manual.
. "$JIANMU_SOURCE/tests/tap.sh"

for module in "$JIANMU_BUILD"/tools/*/.libs/*.so; do
    name=$(basename "$module" .so)
    is "$name exports its entry alone" "$(nm -D --defined-only "$module" | awk '{print $3}')" jianmu_plugin_entry
    is "$name needs no symbol of ours" "$(nm -D -u "$module" | grep -E ' (jm|jianmu|tool)_' || true)" ''
    libraries=$(objdump -p "$module" | awk '/NEEDED/ {print $2}')
    like "$name is linked to jansson" "$libraries" 'libjansson\.so\.4'
    unlike "$name is not linked to libjianmu" "$libraries" 'libjianmu'
    if [ "$name" = http_request ]; then
        like "$name is never unloaded" "$(objdump -p "$module"; readelf -d "$module")" 'NODELETE'
    else
        unlike "$name does not need libcurl" "$libraries" 'curl'
    fi
    manual=$JIANMU_SOURCE/tools/$name/jianmu-$name.7
    ok "$name has a manual page" test -f "$manual"
    if command -v mandoc >/dev/null; then
        is "$name: its manual has no warnings" "$(mandoc -T lint -W warning "$manual")" ''
    else
        skip "$name: its manual has no warnings" 'mandoc is not installed'
    fi
done
for name in run_python python_repl run_shell read_file write_file list_dir; do
    ok "$name was built" test -f "$JIANMU_BUILD/tools/$name/.libs/$name.so"
done
tap_done
