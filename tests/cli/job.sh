# SPDX-License-Identifier: Apache-2.0
# jianmu job: what goes in, what comes out, what stays: nothing.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1

# ---- the whole of it: prints, two files, a link, a FIFO, an escaped sleeper ----
cat >whole.py <<'PY'
import os, subprocess, sys
sleeper = subprocess.Popen(["sleep", "300"], start_new_session=True)
print("printed", sleeper.pid, os.getppid(), os.getcwd(), flush=True)
sys.stdin.readline()
open("one.txt", "w").write("first")
os.makedirs("sub/deep")
open("sub/deep/two.bin", "wb").write(bytes(range(256)))
os.symlink("/etc/passwd", "link.txt")
os.mkfifo("pipe")
PY
mkfifo go
exec 7<>go # for both, so that neither waits for the other
start job whole.py --out results <go >whole.out 2>whole.err
ok "its output comes while it runs" wait_for 30 has_line whole.out
read -r word sleeper reaper work <whole.out
is "it says so" "$word" printed
ok "the sleeper is alive before the job ends" alive "$sleeper"
ok "the watcher is alive too" alive "$reaper"
ok "the job has its directory" test -d "$work"
begin=$SECONDS
echo >&7
exec 7>&-
wait "$background"
is "it ends well" $? 0
ok "in time: the sleeper does not delay it" test $((SECONDS - begin)) -lt 60
is "the first file" "$(<results/one.txt)" first
is "the second file" "$(sha256sum <results/sub/deep/two.bin)" \
    "$(python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)))' | sha256sum)"
is "nothing else" "$(cd results && find . | sort | tr '\n' ' ')" ". ./one.txt ./sub ./sub/deep ./sub/deep/two.bin "
is "the link and the FIFO are reported" "$(sort whole.err)" \
    $'jianmu: skipped link.txt: symlink\njianmu: skipped pipe: fifo'
ok "the sleeper is dead" dead "$sleeper"
ok "the watcher is gone" wait_for 10 dead "$reaper"
not_ok "its directory is gone" test -e "$work"
ok "nothing is left" nothing_left

# ---- what it is given ----
echo 'import os; print(sorted(os.listdir("/proc/self/fd")))' >fds.py
exec 8<whole.py 9>spare
cli job fds.py
exec 8<&- 9>&-
is "no descriptor but 0, 1, 2, and the directory being listed" "$out" "['0', '1', '2', '3']"
echo 'import sys; print(repr(sys.stdin.read()))' >read.py
is "standard input passes through" "$(printf 'a\nb' | "$jianmu" job read.py)" "'a\\nb'"
is "a script on standard input" "$(echo 'print(6 * 7)' | "$jianmu" job -)" 42
is "which then reads end of file" "$("$jianmu" job - <read.py)" "''"
is "a big standard input" \
    "$(head -c 3000000 /dev/zero | "$jianmu" job <(echo 'import sys; print(len(sys.stdin.buffer.read()))'))" 3000000
mkdir -p in/sub/empty
echo one >in/a.txt
echo two >in/sub/b.txt
ln -s /etc/passwd in/link
mkfifo in/fifo
cat >list.py <<'PY'
import os
for top, dirs, files in sorted(os.walk(".")):
    for name in sorted(files):
        path = os.path.join(top, name)[2:]
        if path != "main.py":
            print(path, open(path).read().strip())
PY
refused "an input without a name" 125 'input.*empty' job list.py --input whole.py=
cli job list.py --input in/a.txt --input in/a.txt=x/y/z
is "inputs by their own name and by another" "$out" $'a.txt one\nx/y/z one'
cli job list.py --input in
is "a directory as it is" "$out" $'in/a.txt one\nin/sub/b.txt two'
like "links in it are reported" "$err" 'skipped in/link: symlink'
like "FIFOs in it are reported" "$err" 'skipped in/fifo'
cli job list.py --input in/=.
is "a directory's contents beside the script" "$out" $'a.txt one\nsub/b.txt two'
cli job list.py --input in/=p/q
is "a directory under another name" "$out" $'p/q/a.txt one\np/q/sub/b.txt two'
cp in/a.txt 'a=b'
cli job list.py --input 'a=b=a=c'
like "the last = divides" "$err" "a=b=a: No such file"
cli job list.py --input 'a=b=c'
is "a path with = in it" "$out" "c one"
cli job <(echo 'import helper; helper.hi()') --input <(echo 'def hi(): print("imported")')=helper.py
like "a pipe is no input" "$status $err" '^125 jianmu: --input /dev/fd/'
echo 'def hi(): print("imported")' >helper.py
cli job <(echo 'import helper; helper.hi()') --input helper.py
is "an input can be imported" "$out" imported
for language in sh bash perl; do
    if type -P "$language" >/dev/null; then
        cli job <(echo 'echo "said by $0"' | sed "s/^echo/$([ $language = perl ] && echo print || echo echo)/") --language "$language"
        like "language $language" "$status $out" '^0 said by .*main\.'
    else
        skip "language $language" "there is none here"
    fi
done
cli job <(printf '#!/bin/sh\necho "$1"\n') -- word
is "the #! line decides" "$status $out" "0 word"
cat >environment.py <<'PY'
from os import environ
print(environ["A"], environ.get("SECRET"), environ["LANG"], "JIANMU_PLUGIN_PATH" in environ)
PY
cli job environment.py --env A=b
is "its environment" "$out" "b None C.UTF-8 False"
SECRET=hunter2 cli job <(echo 'import os; print(repr(open("/proc/self/environ").read()), dict(os.environ))')
unlike "no secret of the host is in it" "$out" hunter2

# ---- what comes out ----
cat >streams.py <<'PY'
import os, sys
os.write(1, b"out \xff\x00\x1b[31m\n")
os.write(2, b"err \xfe\n")
PY
"$jianmu" job streams.py >o 2>e
is "standard output is raw" "$(od -An -c o)" "$(printf 'out \377\0\033[31m\n' | od -An -c)"
is "standard error is raw" "$(od -An -c e)" "$(printf 'err \376\n' | od -An -c)"
cli job streams.py --json
is "with --json it is captured, as valid text" "$(member 'ascii([it["stdout"], it["stderr"]])')" \
    "['out \\ufffd\\x00\\x1b[31m\\n', 'err \\ufffd\\n']"
is "and does not pass through" "$err" ""
is "20 MB pass through whole" "$("$jianmu" job <(echo 'import sys
for i in range(20): sys.stdout.buffer.write(b"x" * 1000000)') | wc -c)" 20000000
echo 'open("a.txt", "w").write("new")' >write.py
cli job write.py
is "artifacts without --out are not dropped silently" "$status $err" \
    "0 jianmu: 1 artifact is not kept; --out DIR keeps them"
mkdir full
echo old >full/a.txt
cli job write.py --out full
is "an existing file is not replaced: status" "$status" 125
is "an existing file is not replaced" "$(<full/a.txt)" old
like "an existing file is not replaced: message" "$err" 'full/a\.txt: File exists.*--force'
cli job write.py --out full --force
is "with --force it is" "$status $(<full/a.txt)" "0 new"
ln -sf "$here/victim" full/a.txt
echo precious >victim
cli job write.py --out full --force
is "a link is replaced and not followed" "$(<victim) $(<full/a.txt)" "precious new"
cat >nested.py <<'PY'
import os
os.mkdir("d")
open("d/f", "w").write("inside")
PY
mkdir elsewhere trap
ln -s "$here/elsewhere" trap/d
cli job nested.py --out trap
is "a directory that is a link is not entered" "$status $(ls -A elsewhere)" "125 "
like "and is named" "$err" 'trap/d/f: (Not a directory|Too many levels)'
cli job nested.py --out trap --force
is "not with --force either" "$status $(ls -A elsewhere)" "125 "
echo 'import os; print("ran")' >ran.py
refused "a bad --out is found before the job runs" 125 '--out /nonexistent/x: No such file' job ran.py --out \
    /nonexistent/x
echo file >plain
refused "a file for --out" 125 '--out plain: Not a directory' job ran.py --out plain
cat >modes.py <<'PY'
import os
open("run.sh", "w").write("x")
os.chmod("run.sh", 0o6755)
open("secret", "w").write("x")
os.chmod("secret", 0o000)
open(b"\xff\n", "w").write("odd name")
PY
cli job modes.py --out modes
is "permissions come without set-id bits" "$(stat -c %a modes/run.sh)" 755
is "an unreadable file can be read by its owner afterwards" "$(stat -c %a modes/secret 2>/dev/null || echo none)" 600
is "a name that is no UTF-8 survives" "$(python3 -c 'import os; print(open(b"modes/\xff\n").read())')" "odd name"
cli job modes.py --json --out modes2
is "in JSON it is repaired" "$(member 'ascii(sorted(a["path"] for a in it["artifacts"])[-1])')" "'\\ufffd\\n'"
is "sizes and hashes are there" \
    "$(member '[[a["size"], a["sha256"][:8]] for a in it["artifacts"] if a["path"] == "run.sh"]')" \
    '[[1, "2d711642"]]'
echo 'import time; open("kept", "w").write("x"); print("partial", flush=True); time.sleep(60)' >late.py
cli job late.py --timeout 5s --out late
is "a timeout keeps output and artifacts" "$status $out $(<late/kept)" "124 partial x"
ok "nothing is left at the end" nothing_left
tap_done
