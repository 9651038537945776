# SPDX-License-Identifier: Apache-2.0
# run_python and run_shell: what they answer for each way a process can end, and what must not outlive it.
import sys
sys.dont_write_bytecode = True
import os
import signal
from harness import *

work = os.path.join(tmp, "work")
os.makedirs(work + "/sub")
with open(work + "/module.py", "w") as f:
    f.write("raise SystemExit('imported from the workspace')\n")
ws = {"workspace": work + ":rw"}


def python(code, constraints=None, **more):
    return call("run_python", {"code": code}, constraints, **more)


def prints(code, constraints=None, **more):
    result = python(code, {"timeout_s": 60, **(constraints or {})}, **more)
    return result["value"] if result.get("reason") == "exited" else result


def fails(code, **more):
    result = python(code, {"timeout_s": 60}, **more)
    return result["value"] if result.get("reason") == "tool_failed" else result


# ---- run_python: the answers ----
equal("what was printed", prints("print(6 * 7)"), "42")
result = python("while True:\n    pass", {"timeout_s": 1.0})
equal("an endless loop", (result["reason"], result["value"]), ("timeout", {"error": "timeout after 1.0s"}))
equal("output is cut to max_output", python("print('A' * 5000)", {"timeout_s": 60, "max_output": 20})["value"],
      "A" * 20)
equal("max_output is 2000 by default", len(prints("print('A' * 5000)")), 2000)
equal("the timeout is 2 seconds by default", python("while True: pass")["value"], {"error": "timeout after 2.0s"})
equal("white space at the ends goes", prints("print('\\n \\t x  y\\u3000\\x85\\x1c\\n\\n')"), "x  y")
equal("only of white space nothing is left", prints("print(' \\n ')"), "")
equal("nothing printed", prints("pass"), "")
equal("standard error alone is no failure", prints("import sys; print('warning', file=sys.stderr); print(1)"), "1")
equal("text of all planes", prints("print('h\\u00e4 \\u4e2d \\U0001f600')"), "h\u00e4 \u4e2d \U0001f600")
equal("bytes that are no UTF-8", prints("import sys; sys.stdout.buffer.write(b'a\\xff\\xe4\\xb8b')"), "a\ufffd\ufffdb")
equal("an exception: the last line", fails("1 / 0"), {"error": "ZeroDivisionError: division by zero"})
equal("a syntax error: the last line", fails("print(")["error"].split(":")[0], "SyntaxError")
equal("exit with a text", fails("raise SystemExit('not today')"), {"error": "not today"})
equal("exit with a number", fails("raise SystemExit(3)"), {"error": "exit code 3"})
equal("killed by a signal", fails("import os; os.kill(os.getpid(), 11)"), {"error": "exit code 139"})
equal("a line break of another kind", fails("import sys; sys.stderr.write('one\\u2028two\\r'); sys.exit(1)"),
      {"error": "two"})
equal("a long error is cut", len(fails("raise SystemExit('E' * 5000)")["error"]), 2000)
equal("what failed says so in the message too", python("1 / 0", {"timeout_s": 60})["message"],
      "ZeroDivisionError: division by zero")
for seconds in (0.1, 0.25, 0.3, 1.5):
    equal(f"{seconds} seconds are printed as Python prints them",
          python("while True: pass", {"timeout_s": seconds})["value"],
          {"error": f"timeout after {seconds!r}s"})
equal("a timeout of the call's own is the one that is told",
      python("while True: pass", {"timeout_s": 60}, own_timeout=0.5)["value"],
      {"error": "timeout after 0.5s"})
result = python("print(1)", {"timeout_s": 1e-05})
equal("a timeout that nothing can meet", (result.get("reason"), result.get("value")),
      ("timeout", {"error": "timeout after 1e-05s"}))

# ---- run_python: how it runs ----
equal("its flags", prints("import sys; f = sys.flags; print(f.isolated, f.ignore_environment, f.no_user_site)"),
      "1 1 1")
equal("PYTHON variables do not count", prints("import sys; print('/evil' in sys.path)", env={"PYTHONPATH": "/evil"}),
      "False")
equal("the workspace's modules do not count", fails("import module", cwd=work)["error"],
      "ModuleNotFoundError: No module named 'module'")
equal("there is no input", fails("input()"), {"error": "EOFError: EOF when reading a line"})
equal("no variable of the host", prints("import os; print(os.environ.get('A_SECRET'))", env={"A_SECRET": "hunter2"}),
      "None")
long = "x = '" + "y" * 200000 + "'\nprint(len(x))"
equal("code longer than an argument can be", prints(long), "200000")
equal("its errors", fails(long + "\n1 / 0"), {"error": "ZeroDivisionError: division by zero"})
for n in (131071, 131072):
    code = "print(1)" + " " * (n - 8)
    equal(f"code of {n} bytes", prints(code), "1")
fake = os.path.join(tmp, "fake-python")
with open(fake, "w") as f:
    f.write('#!/bin/sh\nprintf "<%s>" "$@"\n')
os.chmod(fake, 0o755)
equal("the interpreter that was configured, and its command line",
      prints("code", config={"execution": {"local": {"python": fake}}}), "<-I><-u><-c><code>")
result = python("print(1)", env={"PATH": "/nonexistent"})
equal("no interpreter", result.get("could_not", {}).get("code"), "not_found")

start = time.monotonic()
result = python("import time; print('x', flush=True); time.sleep(600)", {"timeout_s": 600}, cancel_ms=500)
equal("a cancelled call", (result["reason"], result["value"]), ("cancelled", {"error": "cancelled"}))
ok("returns soon", time.monotonic() - start < 60, time.monotonic() - start)
result = python("while True: pass", {"timeout_s": 60, "cpu_time_s": 1})
equal("the limit on processor time", (result.get("reason"), result.get("value")),
      ("cpu_time", {"error": "stopped by the limit cpu_time_s"}))
result = python("while True: print('x' * 1000)", {"timeout_s": 60, "output_limit": "1m"})
equal("the limit on output", (result.get("reason"), result.get("value")),
      ("output", {"error": "stopped by the limit output_limit"}))

# A grandchild in a session of its own, seen alive by the code that started it.
orphan = """
import os, subprocess, time
p = subprocess.Popen(['sleep', '600'], start_new_session=True, stdin=subprocess.DEVNULL)
while 'sleep' not in open(f'/proc/{p.pid}/comm').read(): time.sleep(0.01)
print(p.pid)
"""
pid = prints(orphan)
ok("no process outlives the call", pid.isdigit() and wait_for(lambda: not alive(pid)), pid)
left = os.path.join(tmp, "left")
os.mkdir(left)
prints("import os; open(os.path.join(os.environ['TMPDIR'], 'x'), 'w').write('x'); open('y', 'w').write('y')",
       env={"TMPDIR": left})
equal("no file outlives it", os.listdir(left), [])


# ---- run_shell ----
def shell(command, constraints=None, **more):
    cwd = {"cwd": more.pop("at")} if "at" in more else {}
    return call("run_shell", {"command": command, **cwd}, constraints, **more)


equal("both streams and the status", shell("echo out; echo err >&2")["value"],
      {"stdout": "out\n", "stderr": "err\n", "exit_code": 0})
result = shell("echo out; exit 3")
equal("another status is a failure that keeps the value", (result["reason"], result["message"], result["value"]),
      ("tool_failed", "exit code 3", {"error": "exit code 3", "stdout": "out\n", "stderr": "", "exit_code": 3}))
equal("a signal", shell("kill -SEGV $$")["value"]["exit_code"], 128 + signal.SIGSEGV)
equal("it starts in the workspace", shell("pwd -P", ws)["value"]["stdout"], os.path.realpath(work) + "\n")
equal("or in cwd", shell("pwd -P", ws, at="sub")["value"]["stdout"], os.path.realpath(work) + "/sub\n")
like("cwd must exist", error("run_shell", {"command": "pwd", "cwd": "none"}, ws), "'none': No such file")
like("cwd must be a directory", error("run_shell", {"command": "pwd", "cwd": "module.py"}, ws), "Not a directory")
like("cwd must be inside", error("run_shell", {"command": "pwd", "cwd": ".."}, ws), "leads out")
like("cwd needs a workspace", error("run_shell", {"command": "pwd", "cwd": "x"}), "no workspace was given")
equal("without one it starts in a directory that is not the host's",
      shell("pwd", cwd=work)["value"]["stdout"] == work + "\n", False)
equal("there is no input", shell("cat; echo $?")["value"]["stdout"], "0\n")
equal("no variable of the host", shell("echo ${A_SECRET-none}", env={"A_SECRET": "hunter2"})["value"]["stdout"],
      "none\n")
result = shell("echo before; sleep 600", {"timeout_s": 1})
equal("a timeout keeps what was printed", (result["reason"], result["value"]["error"], result["value"]["stdout"]),
      ("timeout", "timeout after 1.0s", "before\n"))
result = shell("echo before; sleep 600", {"timeout_s": 600}, cancel_ms=500)
equal("so does cancelling", (result["reason"], result["value"]["error"], result["value"]["stdout"]),
      ("cancelled", "cancelled", "before\n"))
value_ = shell("printf 'a%.0s' $(seq 1000); printf 'b%.0s' $(seq 1000) >&2", {"max_output": 300})["value"]
equal("each stream has at most max_output characters",
      (len(value_["stdout"]), value_["stdout_dropped"], len(value_["stderr"]), value_["stderr_dropped"]),
      (300, 700, 300, 700))
value_ = shell("printf '%05d' $(seq 1000)", {"max_output": 300})["value"]
ok("head and tail are kept", value_["stdout"].startswith("0000100002") and value_["stdout"].endswith("0099901000"),
   value_)
value_ = shell("seq 100000", {"capture": 1000, "max_output": 100000})["value"]
equal("what capture took is counted too", len(value_["stdout"]) + value_["stdout_dropped"],
      len("".join(f"{i}\n" for i in range(1, 100001))))
like("a command longer than an argument can be", error("run_shell", {"command": ": " + "x" * 131070}),
     "longer than 131071 bytes")
equal("the longest that fits", shell("echo 1 #" + "x" * 131063)["value"]["stdout"], "1\n")
command = "setsid sleep 600 >/dev/null 2>&1 & p=$!; until grep -q sleep /proc/$p/comm; do :; done; echo $p"
pid = shell(command)["value"]["stdout"].strip()
ok("a background process dies with the call", pid.isdigit() and wait_for(lambda: not alive(pid)), pid)

for tool, args in (("run_python", {"code": "print(1)"}), ("run_shell", {"command": "echo 1"})):
    equal(f"{tool} leaks no descriptor", call(tool, args, ws, times=10)["descriptors_grown"], 0)
done()
