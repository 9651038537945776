# SPDX-License-Identifier: Apache-2.0
# How words on the command line are read, and what is said about wrong ones.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1

refused "no command" 2 "no command given"
refused "an unknown command suggests the nearest" 2 "unknown command 'tolls'; did you mean 'tools'" tolls
refused "an unknown command far from all" 2 "unknown command 'xyzzyplugh' \(see" xyzzyplugh
refused "an unknown option suggests the nearest" 2 "unknown option '--timeuot'; did you mean '--timeout'" --timeuot=3 \
    tools
refused "an unknown option of a command suggests the nearest" 2 "did you mean '--language'" job --langauge sh x
refused "an unknown option far from all" 2 "unknown option '--zzzzzzzz'" tools --zzzzzzzz
refused "an unknown short option" 2 "unknown option '-z'" tools -z
refused "an option of another command names it" 2 "'--args' belongs to 'jianmu run'" job --args '{}' x
refused "a command's option before the command" 2 "'--args' must stand behind its command" --args '{}' run x
refused "a value is missing at the end" 2 "'--timeout' needs a value \(TIME\)" tools --timeout
refused "a switch takes no value" 2 "'--json' takes no value" tools --json=1
refused "run without a tool" 2 "run needs a TOOL" run
refused "run with two tools" 2 "run takes one TOOL" run a b
refused "job without a script" 2 "job needs a SCRIPT" job
refused "arguments of a job need --" 2 "stand behind '--'" job a b
refused "--force alone" 2 "'--force' needs '--out'" job --force x
for command in tools backends plugins gc doctor; do
    refused "$command takes no argument" 2 "$command takes no argument" "$command" x
done
refused "explain without a subject" 2 "explain takes one TOOL" explain
refused "explain with --keys and a subject" 2 "explain takes one TOOL" explain job --keys
refused "an unknown format" 2 "unknown format 'xml'; known are jianmu" tools --format xml
refused "--env without =" 125 "env" run list_dir --env NAME
refused "usage errors print nothing, also with --json" 2 "no command" --json

cli --version
is "--version: status" "$status" 0
like "a version has numbers" "$out" '^jianmu [0-9]+\.[0-9]+\.[0-9]+$'
for arg in --help -h; do
    cli "$arg"
    is "$arg: status" "$status" 0
    for command in run job tools backends plugins explain doctor gc; do
        like "$arg names $command" "$out" $'\n  '"$command "
    done
done
for command in run job tools backends plugins explain doctor gc; do
    cli "$command" --help
    is "$command --help: status" "$status" 0
    like "$command --help: usage" "$out" "^usage: jianmu $command "
    cli --help "$command"
    like "--help $command is the same" "$out" "^usage: jianmu $command "
done

cli --json tools
before=$out
cli tools --json
is "common options before or after the command" "$out" "$before"
cli tools --json --json
is "a switch twice" "$out" "$before"
cli explain job --json --capture 1k --capture=2k
is "the last of two counts, both ways of writing" "$(member 'it["settings"]["capture"]["value"]')" 2048
cli explain --json --constraints '{"capture": "1k", "fsize": "1m"}' job --capture 3k
is "an option wins over --constraints" "$(member 'it["settings"]["capture"]["value"]')" 3072
is "and leaves the others alone" "$(member 'it["settings"]["fsize"]["value"]')" 1048576
cli explain --json job --env A=1 --env B=x=y --constraints '{"env": {"A": "0", "C": "3"}}'
is "--env adds up" "$(member 'it["settings"]["env"]["value"] == {"A": "1", "B": "x=y", "C": "3"}')" true
printf '{"execution": {"timeout_s": "2m"}}' >c.json
cli explain --json job --constraints @c.json
is "--constraints @FILE, wrapped" "$(member 'it["settings"]["timeout_s"]["value"]')" 120.0
cli explain --json job --timeout 1m30s --constraints @c.json
is "--timeout is the call's own" "$(member 'it["settings"]["timeout_s"]')" \
    "$(member '{**it["settings"]["timeout_s"], "value": 90.0, "layer": "call", "source": "call"}')"
cli explain --json job --yes
is "--yes is accepted" "$status" 0

echo 'import sys; print(sys.argv[1:])' >args.py
cli job args.py -- -x --json --timeout=-1 -- ''
is "what stands behind -- is the script's" "$out" "['-x', '--json', '--timeout=-1', '--', '']"
cli job -- args.py a
is "-- may stand before the script" "$out" "['a']"

# odd ways of being started
cat >start.py <<'PY'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
argv = (ctypes.c_char_p * 1)(None)
libc.execv(sys.argv[1].encode(), argv)
print("cannot", os.strerror(ctypes.get_errno()))
PY
status=0
out=$(python3 start.py "$jianmu" 2>"$tap_tmp/stderr") || status=$?
is "started without any argument, not even a name: status" "$status" 2
is "started without any argument: nothing on standard output" "$out" ""
like "started without any argument: message" "$(<"$tap_tmp/stderr")" 'no command given'
bad=$'\xff\xfe'
refused "a command that is no UTF-8" 2 "unknown command '.xff.xfe'" "$bad"
refused "an option that is no UTF-8" 2 "unknown option '--.xff.xfe'" "--$bad"
refused "a tool that is no UTF-8" 127 "tool" run "$bad"
refused "a mode that is no UTF-8" 125 "mode.*UTF-8" --mode "$bad" explain job
refused "a constraint that is no UTF-8" 125 "network.*UTF-8" explain job --network "$bad"
refused "JSON that is no UTF-8" 125 "--args: bad JSON" run list_dir --args "{\"path\": \"$bad\"}"
refused "a control character does not reach the terminal" 2 "unknown command 'a.x1b.x0ab'" $'a\e\nb'
echo 'print(1)' >"s$bad.py"
cli job "s$bad.py"
is "a script whose name is no UTF-8" "$status $out" "0 1"
echo 'import os, sys; print(os.fsencode(sys.argv[1]))' >bytes.py
cli job bytes.py -- "$bad"
is "an argument that is no UTF-8 reaches the script as it is" "$out" "b'\\xff\\xfe'"
mapfile -t many < <(seq 100000)
echo 'import sys; print(len(sys.argv) - 1)' >count.py
cli job count.py -- "${many[@]}"
is "100000 arguments" "$status $out" "0 100000"
cli tools "${many[@]/*/--json}"
is "100000 options" "$status" 0
tap_done
