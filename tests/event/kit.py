# SPDX-License-Identifier: Apache-2.0
"""What the tests of sinks share: the command line with a config of its own, and TAP."""
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = os.environ["JIANMU_BUILD"], os.environ["JIANMU_SOURCE"]
jianmu = os.path.join(BUILD, "cli/.libs/jianmu")
if not os.access(jianmu, os.X_OK):
    jianmu = os.path.join(BUILD, "cli/jianmu")
here = tempfile.mkdtemp(prefix="jianmu-test.")
atexit.register(shutil.rmtree, here, ignore_errors=True)
plugins = os.path.join(here, "plugins")
subprocess.run(["bash", os.path.join(SOURCE, "tests/plugin-dir.sh"), plugins, BUILD], check=True)
base = {"PATH": os.environ["PATH"], "HOME": here, "LD_LIBRARY_PATH": os.path.join(BUILD, ".libs"), "TMPDIR": here,
        "JIANMU_PLUGIN_PATH": plugins}
count = failed = 0


def check(name, got, want=True):
    global count, failed
    count += 1
    good = got == want
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    if not good:
        print(f"# got:  {str(got)[:2000]!r}\n# want: {str(want)[:2000]!r}", flush=True)
    return good


def skip(name, why):
    global count
    count += 1
    print(f"ok {count} - {name} # SKIP {why}", flush=True)


def done():
    print(f"1..{count}")
    sys.exit(bool(failed))


def path(name):
    return os.path.join(here, name)


def cli(*args, events=None, env=None, before=()):
    """events: what stands below events:, as an object."""
    config = path("config.yaml")
    with open(config, "w", encoding="utf-8") as f:
        json.dump({"guard": {"profile": "dev"}} | ({"events": events} if events is not None else {}), f)
    command = [*before, jianmu, args[0], "--config", config, *args[1:]]
    return subprocess.run(command, env=base | (env or {}), cwd=here, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)


def python(code, *args, **more):
    return cli("run", "run_python", *args, "--args", json.dumps({"code": code}), **more)


def text(name):
    try:
        with open(path(name), encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def lines(name):
    """Every line of the file must be whole."""
    whole = text(name)
    assert not whole or whole.endswith("\n"), whole[-200:]
    return [json.loads(line) for line in whole.splitlines()]


def fresh(name):
    if os.path.exists(path(name)):
        os.unlink(path(name))
    return path(name)
