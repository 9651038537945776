# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, in every C and C++ that people use, without a warning; and what is made of it
# alone is a plug-in.

. "$JIANMU_SOURCE/tests/plugins/kit.sh" || exit 1
here=$JIANMU_SOURCE/tests/abi
# Alone: nothing else of ours can be found from here.
mkdir "$dir/include"
cp "$JIANMU_SOURCE/libjianmu/jianmu.h" "$JIANMU_SOURCE/libjianmu/jianmu-plugin.h" "$dir/include/"
read -ra flags <<< "-I$dir/include $(pkg-config --cflags jansson 2> /dev/null)"
read -ra libs <<< "$(pkg-config --libs jansson 2> /dev/null || echo -ljansson)"
strict=(-Wall -Wextra -Wshadow -Wcast-qual -Wpointer-arith -Wwrite-strings -Wundef -pedantic -Werror)

# try COMPILER LANGUAGE STANDARD...
try() {
    local compiler=$1 language=$2 std unit
    shift 2
    for std in "$@"; do
        for unit in only_caller only_tool only_backend only_guard only_sink; do
            if ! type "$compiler" > /dev/null 2>&1; then
                skip "$compiler -std=$std $unit.c" "$compiler is not installed"
                continue
            fi
            ok "$compiler -std=$std $unit.c" "$compiler" -x "$language" -std="$std" "${strict[@]}" "${flags[@]}" \
                -fsyntax-only "$here/$unit.c"
        done
    done
}

# build COMPILER LANGUAGE STANDARD: plug-ins that load and run.
build() {
    local compiler=$1 language=$2 std=$3 d=$dir/$1-$3 unit
    type "$compiler" > /dev/null 2>&1 || return 0
    mkdir -p "$d/tools" "$d/backends" "$d/guards" "$d/sinks"
    for unit in tools/only_tool backends/only_backend guards/only_guard sinks/only_sink; do
        "$compiler" -x "$language" -std="$std" -O2 -flto -ffunction-sections -fdata-sections -fvisibility=hidden -fPIC \
            -shared "${flags[@]}" "$here/${unit#*/}.c" -x none -Wl,--gc-sections "${libs[@]}" -o "$d/$unit.so" 2> "$dir/log" ||
        "$compiler" -x "$language" -std="$std" -O2 -fvisibility=hidden -fPIC -shared "${flags[@]}" "$here/${unit#*/}.c" \
            -x none "${libs[@]}" -o "$d/$unit.so" 2> "$dir/log" || diag "$(cat "$dir/log")"
    done
    strip "$d"/*/*.so 2> /dev/null
    lines=$("$look" --run "$d")
    like "$compiler -std=$std: the tool runs" "$lines" 'only_tool = 42'
    like "$compiler -std=$std: the tool with state runs" "$lines" 'only_other = 42'
    is "$compiler -std=$std: the backend is usable" "$(column 4 only_backend.so)" usable
    is "$compiler -std=$std: the guard is usable" "$(column 4 only_guard.so)" usable
    is "$compiler -std=$std: the sink is usable" "$(column 4 only_sink.so)" usable
}

try gcc c c99 c11 gnu11
try clang c c99 c11 gnu11
try g++ c++ c++11 c++17
try clang++ c++ c++11 c++17
build gcc c c99
build clang c c11
build g++ c++ c++11
build clang++ c++ c++17

tap_done
