# SPDX-License-Identifier: Apache-2.0
# What every backend must do, through the command line. Sourced after tests/tap.sh with:
#   jianmu  an array: the program and --plugin-dir DIR
#   mode    the backend
# hello (examples/hello) and the shipped tools must be among the plug-ins.

table_run() { # table_run COMMAND... : sets status, out, err
    out=$("${jianmu[@]}" --mode "$mode" "$@" 2>"$tap_tmp/err" </dev/null)
    status=$?
    err=$(cat "$tap_tmp/err")
}

left_behind() { # work directories below the private parent
    find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'jianmu_local_job_*' | wc -l
}

table_jobs() {
    cat >"$here/job.py" <<'PY'
import os, subprocess, sys
print("printed", sys.argv[1:], os.environ.get("HOME") != None)
print("on stderr", file=sys.stderr)
open("one.txt", "w").write("1"); os.mkdir("d"); open("d/two.txt", "w").write("22")
os.symlink("/etc/passwd", "link"); os.mkfifo("fifo")
p = subprocess.Popen(["setsid", "sleep", "300"])
open(sys.argv[1], "w").write("%d" % p.pid)
os.kill(p.pid, 0)
sys.exit(3)
PY
    table_run job "$here/job.py" --timeout 30s --out "$here/out" -- "$here/pid" "two words"
    is "$mode: a job's own status" "$status" 3
    is "$mode: a job's output" "$out" "printed ['$here/pid', 'two words'] True"
    like "$mode: a job's error stream" "$err" 'on stderr'
    is "$mode: artifacts" "$(cd "$here/out" && find . -type f | sort | tr '\n' ' ')" "./d/two.txt ./one.txt "
    like "$mode: a link is skipped, and said" "$err" 'link.*symlink'
    like "$mode: a FIFO is skipped, and said" "$err" 'fifo'
    ok "$mode: the sleeper lived" test -s "$here/pid"
    ok "$mode: the sleeper is dead" dead "$(cat "$here/pid")"
    is "$mode: no directory is left" "$(left_behind)" 0
}

table_stops() {
    local before=$SECONDS
    echo 'echo $$ >"$1"; echo before; sleep 300' >"$here/sleep.sh"
    table_run job "$here/sleep.sh" --language sh --timeout 1s -- "$here/pid2"
    is "$mode: timeout is 124" "$status" 124
    is "$mode: what was printed before it is there" "$out" before
    like "$mode: and says so" "$err" 'timed out after 1.0s'
    ok "$mode: it had run" test -s "$here/pid2"
    ok "$mode: it is dead" dead "$(cat "$here/pid2")"
    ok "$mode: in time" test $((SECONDS - before)) -lt 30

    "${jianmu[@]}" --mode "$mode" job "$here/sleep.sh" --language sh -- "$here/pid3" >"$here/cancelled" 2>&1 </dev/null &
    local job=$!
    wait_for 20 test -s "$here/pid3"
    ok "$mode: the job to cancel runs" alive "$(cat "$here/pid3")"
    # bash starts background jobs with SIGINT ignored; TERM is not
    kill -TERM "$job"
    wait "$job"
    is "$mode: ended by SIGTERM is 143" $? 143
    ok "$mode: the cancelled job is dead" dead "$(cat "$here/pid3")"
    is "$mode: no directory is left after that" "$(left_behind)" 0
}

table_limits() {
    echo 'while :; do :; done' >"$here/spin.sh"
    table_run job "$here/spin.sh" --language sh --cpu-time 0.5 --timeout 60 --json
    like "$mode: cpu time" "$out" '"reason": *"cpu_time"'
    is "$mode: a limit that kills is 137" "$status" 137
    echo 'while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done' >"$here/yes.sh"
    table_run job "$here/yes.sh" --language sh --output-limit 64k --timeout 60 --json
    like "$mode: output limit" "$out" '"reason": *"output"'
    echo 'ulimit -n; dd if=/dev/zero of=big bs=1k count=64 2>/dev/null' >"$here/big.sh"
    table_run job "$here/big.sh" --language sh --nofile 77 --fsize 8k --timeout 60 --json
    like "$mode: open files" "$out" '"stdout": *"77'
    like "$mode: file size" "$out" '"size": *8192'
    table_run job "$here/big.sh" --language sh --memory 64m
    is "$mode: what it cannot enforce is refused" "$status" 125
    like "$mode: naming the limit" "$err" "cannot enforce memory"
    is "$mode: and nothing runs" "$out" ""
}

table_tools() {
    table_run run hello --args '{"name": "世界"}'
    is "$mode: a tool call" "$status:$out" "0:Hello, 世界!"
    table_run run hello
    is "$mode: arguments that do not fit are 125" "$status:$out" "125:"
    like "$mode: and are told" "$err" 'expected the property "name"'
    table_run run nosuch
    is "$mode: no such tool is 127" "$status" 127
    table_run run run_python --yes --args '{"code": "print(6 * 7)"}' --timeout 30
    is "$mode: run_python" "$status:$out" "0:42"
    table_run run run_python --yes --args '{"code": "while True: pass"}' --timeout 1
    is "$mode: run_python in time" "$status" 124
    mkdir -p "$here/space"
    table_run run write_file --workspace "$here/space:rw" --args '{"path": "f", "content": "abc"}'
    is "$mode: write_file" "$status:$(cat "$here/space/f" 2>&1)" "0:abc"
    table_run run write_file --workspace "$here/space" --args '{"path": "g", "content": "abc"}'
    is "$mode: a tool that failed is 1" "$status:$(ls "$here/space")" "1:f"
    like "$mode: and says why" "$err" 'g'
    table_run run read_file --workspace "$here/space" --args '{"path": "f"}'
    like "$mode: read_file" "$out" 'abc'
    is "$mode: no directory is left by tools" "$(left_behind)" 0
}

run_table() {
    here=$tap_tmp/$mode # what one backend wrote must not help the next
    mkdir -p "$here"
    export TMPDIR=$here/work
    mkdir -p "$TMPDIR"
    table_jobs
    table_stops
    table_limits
    table_tools
}
