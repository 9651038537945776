# SPDX-License-Identifier: Apache-2.0
"""A TAP writer, and calls of the tools that were built, through the public interface of the library."""
import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

build = os.environ["JIANMU_BUILD"]
source = os.environ["JIANMU_SOURCE"]
under = os.environ.get("JIANMU_UNDER", "").split()
tmp = tempfile.mkdtemp(prefix="jianmu-test.")
count = failures = 0


@atexit.register
def _remove():
    subprocess.run(["chmod", "-R", "u+rwX", tmp], stderr=subprocess.DEVNULL)
    shutil.rmtree(tmp, ignore_errors=True)


def _line(good, name, why=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name.replace('#', '')}")
    if not good:
        print("\n".join("# " + line for line in str(why).splitlines()))
    sys.stdout.flush()


def ok(name, good, why=""):
    _line(bool(good), name, why)


def equal(name, got, want):
    _line(got == want, name, f"got:  {got!r:.2000}\nwant: {want!r:.2000}")


def like(name, got, pattern):
    _line(isinstance(got, str) and re.search(pattern, got), name, f"got:  {got!r:.2000}\nwant: {pattern}")


def skip(name, reason):
    global count
    count += 1
    print(f"ok {count} - {name} # SKIP {reason}", flush=True)


def skip_all(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def done():
    print(f"1..{count}")
    sys.exit(failures > 0)


def _plugin_dir():
    path = os.path.join(tmp, "plugins")
    subprocess.run(["bash", os.path.join(source, "tests/plugin-dir.sh"), path, build], check=True)
    return path


def has_tool(name):
    return os.path.exists(os.path.join(plugins, "tools", name + ".so"))


def call(tool, args, constraints=None, settings=None, config=None, env=None, cancel_ms=0, times=1, own_timeout=0,
         cwd=None, prefix=()):
    """One call. settings: of tools.TOOL in the configuration; config: the whole of it. JSON is YAML."""
    config = dict(config or {})
    if settings:
        config["tools"] = {tool: settings}
    command = [*prefix, *under, os.environ.get("JIANMU_CALL") or os.path.join(build, "tests/tools/call")]
    if cancel_ms:
        command += ["-c", str(cancel_ms)]
    if times > 1:
        command += ["-n", str(times)]
    if own_timeout:
        command += ["-t", repr(own_timeout)]
    command += [plugins, tool, "-", json.dumps(constraints or {}), json.dumps(config)]
    ran = subprocess.run(command, input=json.dumps(args).encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         cwd=cwd, env={**os.environ, **(env or {})}, timeout=120)
    if ran.returncode != 0 or ran.stderr:
        raise SystemExit(f"Bail out! status {ran.returncode}: {ran.stderr.decode()} of {command}")
    return json.loads(ran.stdout)


def value(*args, **keywords):
    """The value of a call that must succeed."""
    result = call(*args, **keywords)
    return result["value"] if result.get("reason") == "exited" else result


def error(*args, **keywords):
    """The error sentence of a call that the tool must say has failed."""
    result = call(*args, **keywords)
    if result.get("reason") != "tool_failed" or result["message"] != result["value"]["error"]:
        return result
    return result["value"]["error"]


def invalid(*args, **keywords):
    """The sentence of a call whose arguments must be refused."""
    result = call(*args, **keywords)
    could_not = result.get("could_not", {})
    return could_not["message"] if could_not.get("code") == "invalid" else result


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def namespaces():
    """What to put before a command so that it has its own mounts and network; None where that cannot be had. Not for
    ordinary users: in a user namespace of theirs root's directories belong to nobody, and no plug-in is trusted."""
    prefix = ["unshare", "-m", "-n"]
    try:
        works = os.geteuid() == 0 and subprocess.run([*prefix, "mount", "-t", "tmpfs", "none", tmp],
                                                     stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return None
    return prefix if works else None


plugins = _plugin_dir()
