# SPDX-License-Identifier: Apache-2.0
"""Each key that `jianmu explain --keys` lists, set through the command line at each layer it may stand in, and read
back from `jianmu explain --json`: value, layer, line. The list makes the test; a new key needs no word here."""
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
command = [*os.environ.get("JIANMU_UNDER", "").split(), jianmu]
here = tempfile.mkdtemp(prefix="jianmu-test.")
env = {"PATH": os.environ["PATH"], "HOME": here, "LD_LIBRARY_PATH": os.path.join(BUILD, ".libs"),
       "JIANMU_PLUGIN_PATH": os.path.join(here, "plugins")}
count = failed = 0


def run(*args):
    done = subprocess.run([*command, *args], env=env, cwd=here, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def check(name, got, want):
    global count, failed
    count += 1
    good = got == want
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good:
        print(f"# got:  {got}\n# want: {want}")


# Two values of each type, as they are written and as they come back; single keys are choosier than their type.
VALUES = {"str": [("word", "word"), ("other", "other")], "bool": [("true", True), ("false", False)],
          "int": [("11", 11), ("12", 12)], "real": [("0.5", 0.5), ("1.5", 1.5)],
          "seconds": [("1.5s", 1.5), ("250ms", 0.25)], "size": [("64k", 65536), ("3m", 3 << 20)],
          "list": [('["/a"]', ["/a"]), ('["/b", "/c"]', ["/b", "/c"])],
          "map": [('{"A": "1"}', {"A": "1"}), ('{"B": "2"}', {"B": "2"})]}
OWN = {"mode": [("local", "local"), ("half", "half")], "scope": [("all", "all"), ("skill", "skill")],
       "env_allowlist": [('["A"]', ["A"]), ('["B"]', ["B"])],
       "env_allowprefix": [('["A_"]', ["A_"]), ('["B_"]', ["B_"])]}
OPTIONS = {"docker_image": "image", "timeout_s": None, "cpu_time_s": "cpu-time", "max_output": "max-output",
           "output_limit": "output-limit", "scope": None, "tmpfs_noexec": None}


def values(key):
    return OWN.get(key["name"], VALUES[key["type"]])


def explained(key, *args):
    subject = key.get("tool") or "job"
    status, out, err = run("explain", subject, "--json", *args)
    if status:
        return f"status {status}: {err}"
    return json.loads(out)["settings"].get(key["name"])


def in_file(path, text):
    """YAML with the value in a line of its own, after two comments; the number of that line."""
    parts = path.split(".")
    lines = ["# one", "# two"] + ["  " * i + part + ":" for i, part in enumerate(parts[:-1])]
    lines.append("  " * (len(parts) - 1) + f"{parts[-1]}: {text}")
    with open(os.path.join(here, "set.yaml"), "w") as file:
        file.write("\n".join(lines) + "\n")
    return len(lines)


def mode_of(key):
    return ["--mode", key["mode"]] if key.get("mode") else []


def try_file(key, path, layer):
    text, want = values(key)[0]
    line = in_file(path, text)
    mode = [] if key["name"] == "mode" else mode_of(key)
    got = explained(key, "--config", "set.yaml", *mode)
    check(f"{path}: {text} in the file",
          isinstance(got, dict) and [got["value"], got["layer"], got["source"], got["line"]],
          [want, layer, f"set.yaml:{line}", line])


def try_constraints(key, written_below):
    name, (text, want) = key["name"], values(key)[1]
    args = ["--config", "set.yaml"] if written_below else []
    try:
        plain = json.loads(text)
    except ValueError:
        plain = text
    got = explained(key, *args, "--constraints", json.dumps({name: plain}))
    check(f"{name}: {text} in --constraints", isinstance(got, dict) and [got["value"], got["source"]],
          [want, "constraints"])
    option = OPTIONS.get(name, name)
    if option and name not in ("workspace", "skill"):
        text = "B=2" if name == "env" else text
        got = explained(key, *args, f"--{option}={text}")
        check(f"--{option}={text}", isinstance(got, dict) and [got["value"], got["source"]], [want, "constraints"])


def try_key(key):
    written = False
    mode = key.get("mode")
    here_too = not mode or os.path.exists(f"{here}/plugins/backends/{mode}.so")
    if "yaml" in key["layers"] and here_too and not key["key"].startswith(("plugins.", "events.")):
        try_file(key, key["key"], "yaml")
        written = True
    if "tools" in key["layers"]:
        try_file(key, key["key"] if key.get("tool") else f"tools.job.{key['name']}", "tools")
        written = True
    if "constraints" in key["layers"]:
        try_constraints(key, written)
    if "call" in key["layers"]:
        got = explained(key, "--config", "set.yaml", "--constraints", '{"timeout_s": 3}', "--timeout", "1h")
        check("--timeout=1h", isinstance(got, dict) and [got["value"], got["source"]], [3600.0, "call"])


def main():
    subprocess.run(["bash", os.path.join(SOURCE, "tests/plugin-dir.sh"), os.path.join(here, "plugins"), BUILD],
                   check=True)
    half = os.path.join(here, "plugins/backends/half.so")
    shutil.copyfile(os.path.join(BUILD, "tests/cli/.libs/half.so"), half)
    os.chmod(half, 0o755)
    status, out, err = run("explain", "--keys", "--json")
    keys = json.loads(out)
    check("explain --keys", [status, len(keys) > 30], [0, True])
    table = run("explain", "--keys")[1]
    for key in keys:
        check(f"{key['key']} is in the table",
              any(line.split() and line.split()[0] == key["key"] for line in table.splitlines()), True)
        try_key(key)
    print(f"1..{count}")


try:
    main()
finally:
    shutil.rmtree(here)
sys.exit(failed > 0)
