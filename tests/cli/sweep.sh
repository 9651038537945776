#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every system call of a job's way fails once (strace(1) injects it): each run ends in time, with the right answer or with
# an error that says so; nothing runs on, nothing stays that gc does not remove, and the next run works.
. "${JIANMU_SOURCE:?}/tests/tap.sh" || exit 1
command -v strace >/dev/null || skip_all "there is no strace"
jianmu=$JIANMU_BUILD/cli/jianmu
ldd "$JIANMU_BUILD/cli/.libs/jianmu" "$jianmu" 2>/dev/null | grep -qE 'lib[at]san' && skip_all "a sanitizer traces this program itself"
export LD_LIBRARY_PATH=$JIANMU_BUILD/.libs
[ ! -x "$JIANMU_BUILD/cli/.libs/jianmu" ] || jianmu=$JIANMU_BUILD/cli/.libs/jianmu
bash "$JIANMU_SOURCE/tests/plugin-dir.sh" "$tap_tmp/plugins"
export TMPDIR=$tap_tmp/work
mkdir "$TMPDIR"
# the marker is an argument of the shell, so that a survivor can be found
marker=jm-sweep-$$-$RANDOM
printf 'echo hello; echo "$1" >file\n' >"$tap_tmp/job.sh"
job=("$jianmu" --plugin-dir "$tap_tmp/plugins" job "$tap_tmp/job.sh" --language sh --timeout 20 --json -- "$marker")

strace -o "$tap_tmp/trace" "${job[@]}" >"$tap_tmp/out" 2>"$tap_tmp/err" </dev/null || skip_all "strace cannot trace here"
like "the run that is not disturbed" "$(cat "$tap_tmp/out")" '"stdout": ?"hello'

# Processes that carry the marker as an argument of their own, other than those of this test.
survivors() {
    local p
    for p in /proc/[0-9]*/cmdline; do
        tr '\0' '\n' <"$p" 2>/dev/null | grep -qx -- "$marker" || continue
        p=${p%/cmdline}
        alive "${p#/proc/}" && echo "${p#/proc/}"
    done 2>/dev/null
}
sh -c 'read line' sh "$marker" < <(sleep 5) &
control=$!
wait_for 10 test -n "$(survivors)"
is "control: a survivor is found" "$(survivors)" "$control"
kill "$control"
wait "$control" 2>/dev/null

# one SYSCALL ERROR OCCURRENCE
failed=0 hung=0 wrong=0 silent=0 stayed=0 alive_after=0 runs=0
one() {
    runs=$((runs + 1))
    timeout -s KILL 30 strace -qq -o /dev/null -e "inject=$1:error=$2:when=$3" "${job[@]}" >"$tap_tmp/out" 2>"$tap_tmp/err" </dev/null
    local status=$?
    [ $status -eq 0 ] || failed=$((failed + 1))
    if [ $status -eq 137 ]; then
        hung=$((hung + 1)); diag "$1 $2 #$3 hung"
    elif [ $status -eq 0 ] && ! grep -qE '"stdout": ?"hello\\n"' "$tap_tmp/out"; then
        wrong=$((wrong + 1)); diag "$1 $2 #$3: $(head -c 300 "$tap_tmp/out")"
    elif [ $status -ne 0 ] && ! [ -s "$tap_tmp/err" ] && ! [ -s "$tap_tmp/out" ]; then
        silent=$((silent + 1)); diag "$1 $2 #$3: status $status, and nothing said"
    fi
    if [ -n "$(ls -A "$TMPDIR")" ]; then
        "$jianmu" --plugin-dir "$tap_tmp/plugins" gc >/dev/null 2>&1
        [ -z "$(ls -A "$TMPDIR")" ] || { stayed=$((stayed + 1)); diag "$1 $2 #$3 left $(ls -A "$TMPDIR")"; rm -rf "${tap_tmp:?}/work"/*; }
    fi
}

# What the loader does before main is not ours to answer for: a program that cannot start says so by itself.
main_at=$(grep -n 'jianmu_local_job_\|plugins/backends' "$tap_tmp/trace" | head -n 1 | cut -d: -f1)
for call in openat openat2 mkdirat newfstatat flock write socketpair memfd_create clone sendmsg recvmsg poll ppoll pipe2 \
    read fcntl eventfd2 getrandom unlinkat getdents64 mmap statx fstatfs pread64 timerfd_create dup3 renameat lseek; do
    total=$(grep -c "^$call(" "$tap_tmp/trace")
    before=$(head -n "$main_at" "$tap_tmp/trace" | grep -c "^$call(")
    [ "$total" -gt "$before" ] || continue
    step=$(((total - before + 29) / 30))
    for ((n = before + 1; n <= total; n += step)); do
        case $call in
        openat | socketpair | memfd_create | pipe2 | eventfd2 | fcntl) one "$call" EMFILE $n ;;
        write | mkdirat) one "$call" ENOSPC $n ;;
        openat2 | statx) one "$call" ENOSYS $n ;;
        poll | ppoll | read | recvmsg | sendmsg | getrandom) one "$call" EINTR $n; one "$call" EIO $n ;;
        clone) one "$call" EAGAIN $n ;;
        *) one "$call" ENOMEM $n ;;
        esac
        one "$call" EPERM $n
    done
done
sleep 0.3
left=$(survivors)
ok "many were tried ($runs)" test "$runs" -gt 100
ok "and many of them made it fail ($failed)" test "$failed" -gt 30
is "none hung" $hung 0
is "none gave a wrong answer" $wrong 0
is "none failed without a word" $silent 0
is "none left what gc does not remove" $stayed 0
is "nothing runs on" "$left" ""
"${job[@]}" >"$tap_tmp/out" 2>&1 </dev/null
like "the next run works" "$(cat "$tap_tmp/out")" '"stdout": ?"hello'
tap_done
