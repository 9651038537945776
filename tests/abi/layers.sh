# SPDX-License-Identifier: Apache-2.0
# Who may include whom. Each part of the library may use those named before it, process and files each other,
# plug-ins and commands the public headers; libltdl, libyaml, libcurl and PCRE2 have one user each. And what every file
# must have.

. "$JIANMU_SOURCE/tests/tap.sh" || exit 1
order=(base schema plugin settings process files event guard call executor)

# includes FILE: what is between the quotes or brackets, with them.
includes() {
    sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*\(["<][^">]*[">]\).*/\1/p' "$1"
}

check_library() {
    local part=$1 allowed=" $2 " file name
    [ "$part" != process ] || allowed+="files "
    find "libjianmu/$part" -name '*.[chS]' | sort | while read -r file; do
        includes "$file" | while read -r name; do
            case $name in
            '"config.h"' | '"jianmu.h"' | '"jianmu-plugin.h"') ;;
            '"libjianmu/'"$part/"*.inc'"') ;; # made by the build
            '"'*/*) name=${name#\"}; [[ $allowed == *" ${name%%/*} "* ]] || echo "$file includes \"$name" ;;
            '"'*) echo "$file includes $name: no folder is named" ;;
            '<ltdl.h>') [ "$file" = libjianmu/plugin/loader.c ] || echo "$file includes $name" ;;
            '<yaml.h>') [[ $file == libjianmu/settings/yaml*.c ]] || echo "$file includes $name" ;;
            '<pcre2'*) [ "$file" = libjianmu/base/pattern.c ] || echo "$file includes $name" ;;
            '<curl/'*) echo "$file includes $name" ;;
            esac
        done
    done
}

# Plug-ins know what their authors elsewhere know: the public headers, the folders of their own tree, and libraries
# that are theirs. Tools, guards and sinks have base/ besides, which knows nothing of the rest and is linked into them.
check_plugins() {
    local tree=$1 file name
    find "$tree" -name '*.[chS]' | sort | while read -r file; do
        includes "$file" | while read -r name; do
            case $name in
            '"config.h"' | [\"\<]jianmu-plugin.h[\"\>] | [\"\<]jianmu.h[\"\>]) ;;
            '"'"$tree/"*.inc'"') ;; # made by the build
            '"base/'*) [ "$tree" != plugins ] || echo "$file includes $name" ;;
            '<curl/'*) [[ $file == tools/http_request/* || $file == sinks/otlp/* ]] || echo "$file includes $name" ;;
            '<ltdl.h>' | '<yaml.h>' | '<pcre2'*) echo "$file includes $name" ;;
            '"'*) name=${name#\"}; name=${name%\"}
                [ -f "$tree/$name" ] || [ -f "${file%/*}/$name" ] || echo "$file includes \"$name\"" ;;
            esac
        done
    done
}

check_commands() {
    local file name
    find cli -name '*.[ch]' | sort | while read -r file; do
        includes "$file" | while read -r name; do
            case $name in
            '"config.h"' | '"jianmu.h"' | '<jianmu.h>') ;;
            '<ltdl.h>' | '<yaml.h>' | '<pcre2'* | '<curl/'* | '<jianmu'*) echo "$file includes $name" ;;
            '"'*) name=${name#\"}; name=${name%\"}
                [ -f "cli/${name#cli/}" ] || [ -f "${file%/*}/$name" ] || echo "$file includes \"$name\"" ;;
            esac
        done
    done
}

check_files() {
    local file
    find . -type f \( -name '*.[chS]' -o -name '*.sh' -o -name '*.py' -o -name '*.am' -o -name '*.m4' -o -name '*.[1-8]' \) \
        -not -path './.git/*' -not -name config.h -not -path './build-aux/*' -not -path './autom4te.cache/*' -not -name aclocal.m4 \
        -not -path './m4/l*.m4' -not -path './jianmu-[0-9]*' | sort | while read -r file; do
        head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "${file#./} has no SPDX line"
    done
    find libjianmu plugins tools guards sinks cli entry -type f -name '*.[chS]' | sort | while read -r file; do
        [ "$(wc -l < "$file")" -le 400 ] || echo "$file is longer than 400 lines"
    done
}

# glibc's asprintf may write a byte too far where memory is short: base/buffer.h has another.
check_format() {
    grep -rlwE --include='*.[ch]' 'v?asprintf *\(' libjianmu | sort | sed 's/$/ calls asprintf/'
}

check_tree() {
    local seen="" part
    cd "$1" || return
    for part in "${order[@]}"; do
        seen="$seen $part"
        [ ! -d "libjianmu/$part" ] || check_library "$part" "$seen"
    done
    check_plugins plugins
    check_plugins tools
    [ ! -d guards ] || check_plugins guards
    [ ! -d sinks ] || check_plugins sinks
    check_commands
    check_format
    check_files
}

is "this tree keeps the rules" "$(check_tree "$JIANMU_SOURCE")" ""

# A tree that breaks each of them once: every line must be found.
bad=$tap_tmp/bad
mkdir -p "$bad"/libjianmu/{base,schema,plugin,settings,process,files,guard,call} "$bad"/{plugins/local,tools/one,cli,entry}
put() {
    { echo "/* SPDX-License-Identifier: Apache-2.0 */"; shift; printf '%s\n' "$@"; } > "$file"
}
file=$bad/libjianmu/base/a.c; put - '#include "config.h"' '#include <stdio.h>' '#include "base/a.h"' '#include "plugin/registry.h"'
file=$bad/libjianmu/base/pattern.c; put - '#include <pcre2.h>'
file=$bad/libjianmu/schema/a.c; put - '#include "base/pattern.h"' '#include <pcre2.h>' '#include "plugin/registry.h"'
file=$bad/libjianmu/plugin/a.c; put - '#include "base/a.h"' '# include  "settings/settings.h"' '#include <ltdl.h>'
file=$bad/libjianmu/plugin/loader.c; put - '#include <ltdl.h>' '#include "jianmu.h"'
file=$bad/libjianmu/settings/yaml_read.c; put - '#include <yaml.h>' '#include "plugin/registry.h"' '#include "values.h"'
file=$bad/libjianmu/process/a.c; put - '#include <yaml.h>' '#include "files/workdir.h"' '#include "call/runner.h"'
file=$bad/libjianmu/files/a.c; put - '#include "process/process.h"' '#include "call/runner.h"' '#include <curl/curl.h>'
file=$bad/libjianmu/call/a.c; put - '#include "files/workdir.h"' '#include "cli/main.h"'
file=$bad/libjianmu/call/b.c; put - 'int n = asprintf(&text, "a");'
file=$bad/plugins/local/local.c; put - '#include <jianmu-plugin.h>' '#include "own.h"' '#include "base/error.h"' '#include "jianmu.h"' '#include <yaml.h>'
file=$bad/plugins/local/own.h; put - '#include <jansson.h>'
file=$bad/tools/one/one.c; put - '#include "one/one.h"' '#include "base/text.h"' '#include "files/workdir.h"' '#include <curl/curl.h>'
file=$bad/tools/one/one.h; put -
file=$bad/cli/main.c; put - '#include <jianmu.h>' '#include "command.h"' '#include "plugin/registry.h"' '#include <jianmu-plugin.h>'
file=$bad/cli/command.h; put - '#include <jansson.h>'
echo 'int no_licence;' > "$bad/entry/none.c"
file=$bad/entry/long.c; put - "$(seq 400)"
want='libjianmu/base/a.c includes "plugin/registry.h"
libjianmu/schema/a.c includes <pcre2.h>
libjianmu/schema/a.c includes "plugin/registry.h"
libjianmu/plugin/a.c includes "settings/settings.h"
libjianmu/plugin/a.c includes <ltdl.h>
libjianmu/settings/yaml_read.c includes "values.h": no folder is named
libjianmu/process/a.c includes <yaml.h>
libjianmu/process/a.c includes "call/runner.h"
libjianmu/files/a.c includes "call/runner.h"
libjianmu/files/a.c includes <curl/curl.h>
libjianmu/call/a.c includes "cli/main.h"
plugins/local/local.c includes "base/error.h"
plugins/local/local.c includes <yaml.h>
tools/one/one.c includes "files/workdir.h"
tools/one/one.c includes <curl/curl.h>
cli/main.c includes "plugin/registry.h"
cli/main.c includes <jianmu-plugin.h>
libjianmu/call/b.c calls asprintf
entry/none.c has no SPDX line
entry/long.c is longer than 400 lines'
is "each breach of a rule is found" "$(check_tree "$bad")" "$want"

tap_done
