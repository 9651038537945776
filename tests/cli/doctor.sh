# SPDX-License-Identifier: Apache-2.0
# jianmu doctor: with each mechanism taken away its own line changes, and so does its advice.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1
nosys=$JIANMU_BUILD/tests/cli/nosys

# line CHECK: verdict|evidence|advice of that check in $out.
line() {
    printf '%s' "$out" | python3 -c '
import json, sys
for c in json.load(sys.stdin)["checks"]:
    if c["check"] == sys.argv[1]:
        print(c["verdict"], c["evidence"], c["advice"], sep="|")' "$1"
}

# taken NAME CHECK VERDICT EVIDENCE ADVICE: that line of the doctor that ran last, against the sound one.
taken() {
    local got
    got=$(line "$2")
    like "$1: verdict" "$got" "^$3\\|"
    like "$1: evidence" "${got%|*}" "$4"
    like "$1: advice" "${got##*|}" "$5"
    isnt "$1: without it the line was another" "$got" "$(out=$sound line "$2")"
}

without() {
    local calls=$1
    shift
    status=0
    out=$("$nosys" "$@" "$calls" "$jianmu" doctor --json 2>"$tap_tmp/stderr") || status=$?
}

# ---- what is sound here ----
cli doctor --json
sound=$out sound_status=$status
like "it is an object with a note about local" "$(member 'it["note"]')" '^local is no security boundary'
for check in configuration plug-ins 'backend local' libcurl 'limits of local' 'signal scope' 'children in /proc' \
    'programs in memory' openat2 close_range 'end of the tree' 'job directory' python3 TMPDIR HOME locale; do
    like "there is a line: $check" "$(line "$check")" '^(ok|limited|missing)\|.'
done
for tool in list_dir read_file run_python run_shell write_file; do
    like "there is a line: tool $tool" "$(line "tool $tool")" "^ok\\|loaded from $plugins/tools/$tool.so"
done
is "what is needed is here, and so the status is 0" "$sound_status $(member 'it["ok"]')" "0 true"
is "every line that is not ok has advice" \
    "$(member '[c["check"] for c in it["checks"] if c["verdict"] != "ok" and not c["advice"]]')" '[]'
like "the tree is killed" "$(line 'end of the tree')" '^ok\|process [0-9]+, left in its own session, was dead'
like "python3 is a real one and was run" "$(line python3)" '^ok\|/.*python3[^ ]* is Python 3\.'
like "jobs get this directory" "$(line 'job directory')" "^ok\\|$jobs "
cli doctor
is "for people: status" "$status" 0
like "for people: says that local is no security boundary" "$out" 'local is no security boundary'
like "for people: a line each" "$out" $'\nok       python3 '

# ---- system calls ----
"$nosys" openat2 true 2>/dev/null || skipping "no seccomp filter can be had here"
without landlock_create_ruleset
taken "no Landlock" 'signal scope' limited "was not refused \\(Landlock: Function not implemented\\)" '6\.12.*Landlock'
is "no Landlock: jobs work all the same" "$status" 0
without landlock_restrict_self -e EPERM
taken "Landlock that cannot be used" 'signal scope' limited "was not refused \\(Landlock ABI [0-9]+" '6\.12.*Landlock'
without memfd_create
taken "no memfd_create" 'programs in memory' limited 'memfd_create: Function not implemented' 'vm\.memfd_noexec'
without memfd_create -e EACCES
taken "memfd_create forbidden" 'programs in memory' limited 'memfd_create: Permission denied' 'vm\.memfd_noexec'
without openat2
taken "no openat2" openat2 limited 'Function not implemented; paths are opened part by part' 'Linux 5\.6'
is "no openat2: jobs work all the same" "$status $(line 'job directory' | cut -c 1-3)" "0 ok|"
without close_range
taken "no close_range" close_range limited 'Function not implemented; the descriptors .* one by one' 'Linux 5\.11'
is "no close_range: jobs work all the same" "$status $(line 'end of the tree' | cut -c 1-3)" "0 ok|"
without clone3,pidfd_open,pidfd_send_signal,execveat,renameat2,openat2,landlock_create_ruleset
is "none of the newer ones: the tree is killed all the same" "$status $(line 'end of the tree' | cut -c 1-3)" "0 ok|"
skipping

# ---- mounts ----
can_mount || skipping "no mount namespace"
in_mounts 'umount -l /proc && exec "$jianmu" doctor --json'
taken "no /proc" 'children in /proc' missing '/proc is not mounted' 'mount proc'
mkdir "$tap_tmp/no-thread"
in_mounts 'mount --bind "$tap_tmp/no-thread" /proc/$$/task/$$ && exec "$jianmu" doctor --json'
taken "no lists of children" 'children in /proc' limited 'No such file or directory; all of /proc is looked through' \
    'CONFIG_PROC_CHILDREN'
in_mounts 'mount -t tmpfs -o noexec none "$TMPDIR" && exec "$jianmu" doctor --json'
taken "TMPDIR noexec" 'job directory' limited 'programs may not run there \(noexec\)' \
    'execution\.local\.workdir.*TMPDIR'
taken "TMPDIR noexec" TMPDIR limited 'is mounted noexec' 'without noexec'
in_mounts 'mount -t tmpfs -o ro none "$TMPDIR" && exec "$jianmu" doctor --json'
taken "TMPDIR read-only" TMPDIR limited 'cannot be used: Read-only file system' 'unset TMPDIR'
in_mounts 'mount -t tmpfs -o size=1m none "$TMPDIR" && exec "$jianmu" doctor --json'
taken "TMPDIR small" 'job directory' limited 'only [0-9]+ KiB are free' 'execution\.local\.workdir.*TMPDIR'
in_mounts 'mount --bind /tmp /tmp && mount -o remount,ro,bind /tmp && mount -t tmpfs -o ro none /dev/shm &&
    TMPDIR=/dev/shm exec "$jianmu" doctor --json'
taken "no place for jobs at all" 'job directory' missing 'no work directory' 'directory that you can write to'
is "no place for jobs at all: status" "$status" 1
curl=$(ldconfig -p 2>/dev/null | sed -n 's/.*libcurl\.so\.4 .* => //p' | head -n 1)
[ -n "$tap_skipping" ] || [ -e "$curl" ] || skipping "there is no libcurl"
export curl
in_mounts 'mount --bind /dev/null "$(readlink -f "$curl")" && exec "$jianmu" doctor --json'
taken "no libcurl" libcurl missing 'libcurl\.so\.4' 'install libcurl'
[ -n "$tap_skipping" ] || [ -e "$plugins/tools/http_request.so" ] || skipping "there is no http_request"
taken "no libcurl: the tool" 'tool http_request' missing 'libcurl\.so\.4' 'what it lacks'
skipping

# ---- variables ----
status=0
out=$(env -u HOME "$jianmu" doctor --json) || status=$?
taken "HOME unset" HOME limited 'unset' 'set HOME'
is "HOME unset: status" "$status" 0
out=$(HOME=relative "$jianmu" doctor --json)
taken "HOME relative" HOME limited 'not an absolute path' 'set HOME'
out=$(TMPDIR=/nonexistent "$jianmu" doctor --json)
taken "TMPDIR missing" TMPDIR limited '/nonexistent cannot be used: No such file' 'unset TMPDIR'
out=$(TMPDIR=relative "$jianmu" doctor --json)
taken "TMPDIR relative" TMPDIR limited 'relative is not an absolute path' 'unset TMPDIR'
locale=$(locale -a 2>/dev/null | grep -m 1 '^de_DE.*utf8\|^fr_FR.*utf8\|^tr_TR.*utf8')
if [ -n "$locale" ]; then
    out=$(LC_ALL=$locale "$jianmu" doctor --json)
    taken "a locale with a comma" locale ok 'decimal point ","' ''
else
    out=$(LC_ALL=xx_XX "$jianmu" doctor --json)
    taken "a locale that is not there" locale ok 'not installed; it does not matter' ''
fi

# ---- programs and plug-ins ----
mkdir bin
for program in sh sleep setsid printf chmod rm cat; do ln -s "$(type -P "$program")" "bin/$program" 2>/dev/null; done
status=0
out=$(PATH=$here/bin "$jianmu" doctor --json) || status=$?
taken "no python3" python3 missing "python3" 'install python3.*execution\.local\.python'
is "no python3: status" "$status" 1
printf '#!/bin/sh\nexit 3\n' >bin/python3
chmod 755 bin/python3
status=0
out=$(PATH=$here/bin "$jianmu" doctor --json) || status=$?
taken "a python3 that is none" python3 missing 'does not run Python 3: status 3' 'install python3'
printf 'execution:\n  local:\n    python: %s\n' "$here/bin/python3" >c.yaml
out=$("$jianmu" doctor --json --config c.yaml)
taken "a configured interpreter that is none" python3 missing 'does not run Python 3' 'execution\.local\.python'
taken "a configuration file" configuration ok 'c\.yaml was read' ''
mkdir empty
out=$(JIANMU_PLUGIN_PATH=$here/empty "$jianmu" doctor --json) && status=0 || status=$?
[[ $(line 'backend local') != ok* ]] || skipping "there is an installed Jianmu"
taken "no plug-in at all" 'backend local' missing 'local' 'backends/.*--plugin-dir'
like "no plug-in at all: no tool" "$(line tools)" '^limited\|none was found\|install tools'
like "no plug-in at all: jobs are not tried" "$(line 'end of the tree')" '^missing\|not tried'
is "no plug-in at all: status" "$status" 1
skipping
cp -r "$plugins" open
chmod g+w open/tools/read_file.so
out=$("$jianmu" doctor --json --plugin-dir open)
taken "a plug-in others can write" plug-ins limited '1 refused.*chmod' 'jianmu plugins'
chmod 777 open/backends
out=$(JIANMU_PLUGIN_PATH='' "$jianmu" doctor --json --plugin-dir open) && status=0 || status=$?
[[ $(line 'backend local') != ok* ]] || skipping "there is an installed Jianmu"
taken "a directory others can write" 'backend local' missing 'chmod' 'backends/'
skipping
cp "$plugins/tools/list_dir.so" broken.so
head -c 3000 broken.so >empty/broken.so
mkdir empty/tools
mv empty/broken.so empty/tools/
out=$("$jianmu" doctor --json --plugin-dir empty)
taken "a broken plug-in" plug-ins limited '1 refused.*broken\.so' 'jianmu plugins'
half=$JIANMU_BUILD/tests/cli/.libs/half.so
mkdir -p half/backends
install -m 755 "$half" half/backends/half.so
out=$("$jianmu" doctor --json --plugin-dir half)
like "a backend that promises more than this host gives: verdict" "$(line 'limits of half')" \
    '^limited\|enforces timeout_s.*; cannot here: memory\|'
like "a backend that promises more than this host gives: advice" "$(line 'limits of half')" \
    '\|.*asks for memory is refused here'
out=$(HALF=whole "$jianmu" doctor --json --plugin-dir half)
like "where it is to be had, there is nothing to complain about" "$(line 'limits of half')" \
    '^ok\|enforces timeout_s.* memory'
out=$(HALF=none "$jianmu" doctor --json --plugin-dir half)
like "a backend that cannot be opened" "$(line 'limits of half')" '^missing\|.*not here today\|the sentence'
ok "no probe left anything" nothing_left
tap_done
