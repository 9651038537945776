#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `make installcheck` runs: the examples, built with nothing but the installed headers and pkg-config.
# Environment: bindir, pkgconfigdir, source directory (JIANMU_SOURCE).
. "$JIANMU_SOURCE/tests/tap.sh"
. "$JIANMU_SOURCE/tests/outside/table.sh"
unset JIANMU_TOOL_ENTRY
export PKG_CONFIG_PATH=$pkgconfigdir${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
dir=$tap_tmp/plugins
mkdir -p "$dir/tools" "$dir/backends" "$tap_tmp/src"
cp "$JIANMU_SOURCE"/examples/*/*.c "$tap_tmp/src/"
cd "$tap_tmp/src" || exit 1
flags="-Wall -Wextra -Werror -shared -fPIC $(pkg-config --cflags jianmu)"
ok "the smallest tool builds" ${CC:-cc} -std=c99 $flags hello.c -o "$dir/tools/hello.so" $(pkg-config --libs jansson)
ok "the backend builds" ${CC:-cc} -std=gnu11 $flags setpriv.c -o "$dir/backends/setpriv.so" $(pkg-config --libs jansson)
is "pkg-config names the plug-in directories" "$(pkg-config --variable=toolsdir jianmu)" "$(pkg-config --variable=libdir jianmu)/jianmu/tools"
ok "the tools are installed there" test -f "$(pkg-config --variable=toolsdir jianmu)/read_file.so"
ok "the guard is installed in its own" test -f "$(pkg-config --variable=guardsdir jianmu)/policy.so"
ok "and no libtool archive" test -z "$(find "$(pkg-config --variable=toolsdir jianmu)/.." -name '*.la')"
cat >caller.c <<'C'
#include <jianmu.h>
#include <stdio.h>
int main(void)
{
    jianmu_error *err = NULL;
    jianmu_result *result = NULL;
    jianmu_runner *runner = jianmu_runner_from_constraints(NULL, NULL, NULL, NULL, NULL, &err);
    jianmu_job *job = jianmu_job_new("print('from C')", 15);
    if (!runner || jianmu_run_job(runner, job, NULL, &result, &err)) {
        puts(jianmu_error_message(err));
        return 1;
    }
    fputs(jianmu_result_text(result, 1, NULL), stdout);
    jianmu_result_free(result);
    jianmu_job_free(job);
    jianmu_runner_free(runner);
    return 0;
}
C
ok "a caller builds" ${CC:-cc} -Wall -Wextra -Werror $(pkg-config --cflags jianmu) caller.c -o caller $(pkg-config --libs jianmu)
export LD_LIBRARY_PATH=$(pkg-config --variable=libdir jianmu)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
is "and runs a job with the installed plug-ins" "$(./caller)" "from C"
ok "the host of the manual builds" ${CC:-cc} -Wall -Wextra -Werror "$JIANMU_SOURCE/doc/examples/embed.c" -o embed $(pkg-config --cflags --libs jianmu)
question='run_python {"code":"print(6*7)"}? '
is "it asks before what is dangerous, and runs it" "$(./embed run_python '{"code": "print(6*7)"}' <<<y)" "$question\"42\""
like "or does not" "$(./embed run_python '{"code": "print(6*7)"}' <<<n)" "denied: .*not confirmed"
like "nobody to ask is no yes" "$(./embed run_python '{"code": "print(6*7)"}' </dev/null)" "needs_confirmation: "
like "wrong arguments come back as words" "$(./embed run_python '{"cod": 1}')" "^invalid: arguments of tool 'run_python': "
jianmu=("$bindir/jianmu" --plugin-dir "$dir")
if [ -x /usr/bin/setpriv ]; then
    for mode in local setpriv; do run_table; done
else
    skip "the table of backends" "there is no setpriv(1)"
fi
tap_done
