#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# usage: plugin-dir.sh DIR [BUILD]
# Copies the modules of a build tree into DIR/tools, DIR/backends, DIR/guards and DIR/sinks, as an installed plug-in directory has them.
set -eu
dir=$1
build=${2:-${JIANMU_BUILD:?names the build tree}}
umask 022
mkdir -p "$dir/tools" "$dir/backends" "$dir/guards" "$dir/sinks"
shopt -s nullglob
for kind in tools guards sinks; do
    for module in "$build"/$kind/*/.libs/*.so; do
        install -m 755 "$module" "$dir/$kind/"
    done
done
for module in "$build"/plugins/*/.libs/*.so; do
    install -m 755 "$module" "$dir/backends/"
done
