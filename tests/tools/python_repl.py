# SPDX-License-Identifier: Apache-2.0
# python_repl: what stays from call to call, what each way of ending does to it, and that nothing stays behind.
import sys
sys.dont_write_bytecode = True
import glob
import os
import signal
from harness import *

left = os.path.join(tmp, "left")
os.mkdir(left)
os.chmod(left, 0o700)


class Host:
    """A process with one runner."""
    last = 0

    def __init__(self, constraints=None, settings=None, mode="local", config=None, env=None, directory=plugins):
        config = {**(config or {}), "tools": {"python_repl": {"timeout_s": 60, **(settings or {})}}}
        config.setdefault("execution", {}).setdefault("local", {}).setdefault("workdir", left)
        self.process = subprocess.Popen(
            [os.environ.get("JIANMU_SESSION") or os.path.join(build, "tests/tools/session"), directory, mode,
             json.dumps(constraints or {}), json.dumps(config)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **(env or {})})
        self.answers = {}

    def start(self, **request):
        Host.last += 1
        request["id"] = Host.last
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return request["id"]

    def finish(self, number):
        while number not in self.answers:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit(f"Bail out! the host ended: {self.process.wait()}")
            answer = json.loads(line)
            self.answers[answer.pop("id")] = answer
        return self.answers.pop(number)

    def begin(self, code, session=None, **more):
        return self.start(tool="python_repl", args={"code": code, **more.pop("args", {})}, session=session, **more)

    def call(self, code, session=None, **more):
        return self.finish(self.begin(code, session, **more))

    def value(self, code, session=None, **more):
        result = self.call(code, session, **more)
        return result["value"] if result.get("reason") == "exited" else result

    def error(self, code, session=None, reason="tool_failed", **more):
        result = self.call(code, session, **more)
        return result["value"]["error"] if result.get("reason") == reason else result

    def do(self, what):
        return self.finish(self.start(do=what))["value"]

    def free(self):
        self.do("free")
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def pid_of(host, session=None):
    return int(host.value("import os; os.getpid()", session))


def gone(pid):
    return wait_for(lambda: not alive(pid))


def directories():
    return glob.glob(left + "/*")


KEPT = "the state of the session is kept"
LOST = "the state of the session was lost"

# ---- what is answered ----
host = Host(settings={"max_sessions": 50})
equal("what was printed, and the last expression", host.value("print(1)\n6 * 7"), "1\n42")
equal("None is not shown", host.value("None"), "")
equal("only the last one is", host.value("1\n2\nx = 3"), "")
equal("nothing", host.value(""), "")
equal("_ is the last value", host.value("6 * 7; 43") + host.value("_ + 1"), "4344")
equal("an error is its last line, with its traceback and what was printed",
      host.call("print('before')\n1 / 0")["value"] | {"traceback": ""},
      {"error": "ZeroDivisionError: division by zero", "traceback": "", "output": "before\n"})
like("the traceback shows the code's lines and none of ours",
     host.call("def f():\n    return 1 / 0\nf()")["value"]["traceback"],
     r'\ATraceback \(most recent call last\):\n  File "<call \d+>", line 3, in <module>\n    f\(\)[^/]*line 2, in f')
equal("the message is the error", host.call("1 / 0")["message"], "ZeroDivisionError: division by zero")
equal("a syntax error", host.error("x x").split(":")[0], "SyntaxError")
equal("nothing of code with a syntax error runs", host.error("print('ran')\nx x") and
      host.call("print('ran')\nx x")["value"].get("output"), None)
equal("exit with a text", host.error("import sys; sys.exit('not today')"), "not today")
equal("exit with a number", host.error("raise SystemExit(3)"), "exit code 3")
equal("exit without is no error, and ends no session", host.value("y = 5; exit()") + host.value("y"), "5")
equal("an exception that cannot be printed", host.error("class E(BaseException):\n def __str__(self): 1 / 0\nraise E"),
      "E: <exception str() failed>")
for what, code in (("an error", "raise ValueError('B' * (70 << 20))"), ("an exit", "raise SystemExit('B' * (70 << 20))"),
                   ("a name", "raise type('B' * (70 << 20), (Exception,), {})"),
                   ("a broken error", "raise type('B' * (70 << 20), (BaseException,), {'__str__': lambda s: 1 / 0})")):
    host.value("kept = 5")
    equal(f"{what} of 70 MiB ends no session", [len(host.error(code)) <= 2000, host.value("kept")], [True, "5"])
like("what is no answer is told as such", host.error(
    "import os\nfor fd in os.listdir('/proc/self/fd'):\n    try:\n        os.write(int(fd), b'JMF0' + b'\\xff' * 20)\n"
    "    except OSError: pass", "broken"), f"^broken answer: the interpreter said what is no answer, .*{LOST}")
equal("text of all planes", host.value("print('h\\u00e4 \\u4e2d \\U0001f600')"), "h\u00e4 \u4e2d \U0001f600")
equal("bytes that are no UTF-8", host.value("import os; os.write(1, b'a\\xff\\xe4\\xb8b')"),
      "a\ufffd\ufffdb5")
equal("max_output", len(host.value("'A' * 5000")), 2000)
equal("of errors, too", [len(host.call("print('A' * 5000); raise ValueError('B' * 5000)")["value"][k]) <= 2000
                         for k in ("error", "traceback", "output")], [True] * 3)
equal("100 MB are printed, and the call is short", len(host.value("print('x' * 100_000_000)")), 2000)
equal("code of 1 MB", host.value("x = '" + "y" * 1000000 + "'\nlen(x)"), "1000000")
equal("there is no input", host.error("input()"), "EOFError: EOF when reading a line")
equal("sys.stdin is empty", host.value("import sys; sys.stdin.read()"), "''")
equal("isolated as run_python is", host.value("import sys; sys.flags.isolated, sys.argv, __name__"),
      "(1, ['-c'], '__main__')")
equal("a future import holds for the next calls", host.value("from __future__ import annotations") +
      host.value("def g(a: nonsense): pass\ng.__annotations__"), "{'a': 'nonsense'}")
equal("what is defined here can be pickled", host.value(
    "import pickle\nclass C: pass\ntype(pickle.loads(pickle.dumps(C()))) is C"), "True")
for args, text in (({"code": 1}, "argument 'code' must be a string, not an integer"),
                   ({"code": "1", "reset": 1}, "argument 'reset' must be a boolean, not an integer"),
                   ({"code": "1", "cod": 1}, "unknown argument 'cod'"), ({}, "argument 'code' is missing")):
    like(f"refused: {args}", host.finish(host.start(tool="python_repl", args=args))["could_not"]["message"], text)

# ---- what stays ----
equal("a half-consumed generator, an open file and a thread survive", [
    host.value("""
import os, threading, time
numbers = iter(range(100)); first = [next(numbers) for _ in range(3)]
file = open('notes', 'w+'); file.write('one ')
beats = 0
def beat():
    global beats
    while True:
        beats += 1; time.sleep(0.01)
thread = threading.Thread(target=beat, daemon=True); thread.start()
"""), host.value("next(numbers)"), host.value("file.write('two'), file.flush(), open('notes').read()"),
    host.value("seen = beats\nwhile beats < seen + 3: time.sleep(0.01)\nthread.is_alive()")],
      ["", "3", "(3, None, 'one two')", "True"])
pid = pid_of(host)
ids = [host.begin("n = 0")] + [host.begin("n += 1; os.getpid()") for _ in range(1000)]
answers = [host.finish(i)["value"] for i in ids]
equal("1 000 calls, one process", (set(answers[1:]), host.value("n")), ({str(pid)}, "1000"))
equal("two sessions do not see each other", [host.value("secret = 1", "a"), host.error("secret", "b"),
                                             host.error("secret"), host.value("secret", "a")],
      ["", "NameError: name 'secret' is not defined", "NameError: name 'secret' is not defined", "1"])
ok("each has a process and a directory of its own",
   len({host.value("import os; os.getpid(), os.getcwd(), os.environ['HOME'], os.environ['TMPDIR']", s)
        for s in (None, "a", "b")}) == 3)
ok("the directories are private", len(directories()) == 3 and
   all(os.stat(d).st_mode & 0o777 == 0o700 for d in directories()), directories())
equal("an id may be any text", host.value("1", "\u6728 '\"/..%s\n"), "1")
equal("but no empty, no overlong and no broken one",
      [host.call("1", s)["could_not"]["code"] for s in ("", "x" * 256)], ["invalid"] * 2)
equal("one of 255 bytes", host.value("1", "x" * 255), "1")
host.value("import threading, time\ndef late():\n    time.sleep(0.2); print('from the thread')\n"
           "t = threading.Thread(target=late); t.start()", "late")
time.sleep(0.5)
equal("what a thread prints between calls comes with the next", host.value("t.join()", "late"), "from the thread")
equal("reset", [host.value("secret", "a"), host.error("secret", "a", args={"reset": True})],
      ["1", "NameError: name 'secret' is not defined"])
equal("a session that was reset is a new process", host.value("import os; os.getpid()", "a") == str(pid), False)
slow = [host.begin(f"import time; start = len(order)\norder.append({i}); time.sleep(0.05); order.append({i})",
                   "queue", thread=True) if i else host.begin("order = []", "queue") for i in range(6)]
for i in slow:
    host.finish(i)
order = json.loads(host.value("order", "queue"))
ok("calls of one session run one after the other", len(order) == 10 and order[::2] == order[1::2], order)
busy = host.begin("import time; time.sleep(600)", "busy", thread=True, cancel_ms=4000)
time.sleep(0.5)
result = host.call("1", "busy", timeout=0.5)
like("who waits for longer than its time is told so", result.get("could_not", {}).get("code", "") + " " +
     result.get("could_not", {}).get("message", ""), r"\Abusy session 'busy' of 'python_repl' had no turn within 0\.5s")
equal("a cancelled call", host.finish(busy)["value"]["error"], f"cancelled: the code was interrupted; {KEPT}")

# ---- time, limits, crashes ----
host.value("keep = 1", "t")
result = host.call("print('x')\nwhile True: pass", "t", timeout=1)
equal("a timeout interrupts and keeps the state", (result["reason"], result["value"], host.value("keep", "t")),
      ("timeout", {"error": f"timeout after 1.0s: the code was interrupted; {KEPT}", "output": "x\n"}, "1"))
equal("also in a blocking call, and in a child", [
    host.error(code, "t", reason="timeout", timeout=0.5).partition(": ")[2] for code in
    ("import time; time.sleep(600)", "import os; os.system('sleep 600')",
     "import subprocess; subprocess.run(['sleep', '600'])")], [f"the code was interrupted; {KEPT}"] * 3)
pid = pid_of(host, "t")
result = host.call("import time\nwhile True:\n    try: time.sleep(1)\n    except BaseException: pass", "t", timeout=1)
like("code that does not let itself be interrupted is killed", result["value"]["error"],
     f"timeout after 1.0s: the code did not stop .* killed, and {LOST}")
equal("and it is said that the state is lost", result["value"].get("state_lost"), True)
ok("its process is dead", gone(pid))
equal("the next call starts anew", host.error("keep", "t"), "NameError: name 'keep' is not defined")
result = host.call("import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nimport time\ntime.sleep(600)", "t",
                   cancel_ms=300)
like("cancelled while it cannot be interrupted", result["reason"] + " " + result["value"]["error"],
     f"cancelled cancelled: the code did not stop .*{LOST}")
result = host.call("1", "t", timeout=1e-05)
equal("a time that nothing can meet", result.get("reason", result.get("could_not", {}).get("code")) in
      ("timeout", "busy"), True)
for name, code, said in (("os._exit", "import os; print('last words'); os._exit(3)", "exit code 3"),
                         ("a segmentation fault", "import ctypes; ctypes.string_at(0)", "exit code 139"),
                         ("kill -9 of itself", "import os; os.kill(os.getpid(), 9)", "exit code 137"),
                         ("all descriptors closed", "import os; os.closerange(0, 65536)", "exit code")):
    host.call("keep = 1", "crash")
    pid = pid_of(host, "crash")
    result = host.call(code, "crash")
    like(f"{name}: the error", result["value"]["error"], f"\\A{said}.*: the code ended the interpreter, and {LOST}")
    equal(f"{name}: the state is lost", (result["value"]["state_lost"], result["reason"]), (True, "tool_failed"))
    ok(f"{name}: its process is dead", gone(pid))
    like(f"{name}: the next call starts anew", host.error("keep", "crash"), "NameError")
equal("what was printed before a crash", host.call("import os; print('last words'); os._exit(3)",
                                                   "crash")["value"]["output"], "last words\n")
pid = pid_of(host, "crash")
os.kill(pid, signal.SIGKILL)
ok("killed between calls", gone(pid))
time.sleep(0.2)
result = host.call("print('ran')", "crash")
like("then the next call does not run, and says why", result["value"]["error"],
     f"{LOST}, since its process had ended \\(exit code 137\\); this code was not run")
equal("nothing of it ran", result["value"].get("output"), None)
equal("the one behind it does", host.value("1", "crash"), "1")
pid = pid_of(host, "crash")
with open(f"/proc/{pid}/stat") as f:
    os.kill(int(f.read().rsplit(")", 1)[1].split()[1]), signal.SIGKILL)
ok("its reaper killed: it dies, too", gone(pid))
could_not = host.call("print('ran')", "crash").get("could_not", {})
like("and the next call is an error that says so", could_not.get("code", "") + ": " + could_not.get("message", ""),
     r"\Asandbox_dead: session 'crash': its state is lost: ")
equal("then there is a new one", host.value("1", "crash"), "1")
equal("closed descriptors, replaced streams: the next call has them again", [
    host.value("import os\nfor i in range(10):\n    try: os.close(i)\n    except OSError: pass", "odd"),
    host.value("import sys, io\nsys.stdout = io.StringIO(); print('hidden')", "odd"),
    host.value("print('seen'); sys.stdout.close(); sys.stderr.close()", "odd"),
    host.value("print('again'); print('err', file=sys.stderr)", "odd")], ["", "", "seen", "again\nerr"])
equal("a forked child takes no part", host.value("""
import os
child = os.fork()
if child == 0:
    print('child')
else:
    os.waitpid(child, 0); print('parent')
""", "odd"), "child\nparent")
equal("nor one that does not return", host.value(
    "child = os.fork()\nif child == 0:\n    import time; time.sleep(600)\n1", "odd") + host.value("2", "odd"), "12")
forger = """
import os, struct
answer = struct.pack('<4sIQQ', b'JMF0', 2, 0, 5) + b'+fake'
for fd in range(3): os.write(1, answer)
print('truth')
"""
equal("a printed frame is no answer", host.value(forger, "odd").endswith("truth"), True)
like("one that is written to the channel itself ends the session or is passed over", json.dumps(host.call("""
import os, struct
for fd in range(3, 1024):
    try: os.write(fd, struct.pack('<4sIQQ', b'JMF0', 2, 0, 5) + b'+fake')
    except OSError: pass
'true'
""", "odd")), "'true'")
like("garbage on the channel", host.error("""
import os
for fd in range(3, 1024):
    try: os.write(fd, b'garbage' * 10)
    except OSError: pass
""", "odd"), LOST)
pid = pid_of(host)
equal("a forked host is refused and kills nothing of its parent's", (host.do("fork"), pid_of(host)), (0, pid))
before = host.do("descriptors")
for i in range(20):
    host.call("import os; os._exit(1)", "many")
equal("no descriptor is lost", host.do("descriptors") <= before, True)
pids = [pid_of(host, s) for s in (None, "a", "b")]
host.do("free")
ok("with the runner all processes are gone", all(not alive(p) for p in pids), pids)
equal("and all directories", directories(), [])
host.process.stdin.close()
equal("the host ends well", host.process.wait(), 0)

# ---- limits of each call ----
host = Host({"cpu_time_s": 1})
for i in range(3):
    equal(f"the limit on processor time is each call's: {i}", host.value(
        "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass\n1"), "1")
result = host.call("while True: pass")
equal("and holds", (result["reason"], result["value"]["state_lost"]), ("cpu_time", True))
host.free()
host = Host({"output_limit": "1m", "nofile": 64, "fsize": "1m"})
result = host.call("while True: print('x' * 1000)")
equal("the limit on output", (result["reason"], result["value"]["state_lost"]), ("output", True))
equal("on open files", host.value("import resource; resource.getrlimit(resource.RLIMIT_NOFILE)"), "(64, 64)")
like("on the size of a file", host.error("open('x', 'wb').write(b'x' * 2000000)"), "File too large")
host.free()
host = Host(settings={"max_sessions": 2, "idle_s": 600})
pids = [host.value("keep = 1", s) or pid_of(host, s) for s in ("a", "b", "a", "c")]
ok("the longest idle session makes room", gone(pids[1]) and alive(pids[0]) and alive(pids[3]), pids)
like("and its next call says so", host.error("keep", "b"), f"{LOST}, since others needed its place; this code was not")
equal("the others are as they were", host.value("keep", "c"), "1")
host.free()
host = Host(settings={"idle_s": 1.2})
host.value("keep = 1")
pid = pid_of(host)
ok("one that nobody calls ends by itself", gone(pid))
ok("and its directory with it", wait_for(lambda: not directories()), directories())
like("the next call says so", host.error("keep"), f"{LOST}, since nobody had called it for 1.2 seconds")
equal("a call that is longer than that is no idle one", host.value("import time; time.sleep(2.5); 7"), "7")
host.free()

# ---- how it is started ----
host = Host({"env": {"A_NAME": "value"}}, env={"A_SECRET": "hunter2"})
equal("the environment", host.value("import os; os.environ.get('A_SECRET'), os.environ['A_NAME'], os.environ['LANG']"),
      "(None, 'value', 'C.UTF-8')")
equal("no descriptor of the host", host.value("import os; all(os.readlink(f'/proc/self/fd/{f}').startswith(('pipe:', "
                                              "'socket:', '/dev/null', '/proc/')) for f in os.listdir('/proc/self/fd') "
                                              "if os.path.exists(f'/proc/self/fd/{f}'))"), "True")
host.free()
host = Host(config={"execution": {"local": {"python": "/nonexistent/python"}}})
equal("no interpreter", host.call("1").get("could_not", {}).get("code"), "not_found")
host.free()
hosted = os.path.join(tmp, "hosted")
shutil.copytree(plugins, hosted)
shutil.copy(os.path.join(build, "tests/call/.libs/hosted.so"), hosted + "/backends/")
os.chmod(hosted + "/backends/hosted.so", 0o755)
host = Host(mode="hosted", directory=hosted, env={"JIANMU_TOOL_ENTRY": os.path.join(build, "entry/jianmu-tool-entry")})
result = host.call("print('ran')")
like("where each call has a process of its own the tool says that it cannot keep state",
     json.dumps(result.get("could_not")), r'"unsupported".*python_repl.* keeps state .* nothing would be kept')
host.free()
host = Host()
host.value("keep = 1")
host.value("import os\nif os.fork() == 0:\n    import time; os.setsid(); time.sleep(600)", "fork")
pids = [pid_of(host), pid_of(host, "fork")]
host.process.kill()
host.process.wait()
ok("kill -9 of the host leaves no process", all(gone(p) for p in pids), pids)
ok("and no directory", wait_for(lambda: not directories()), directories())
done()
