# SPDX-License-Identifier: Apache-2.0
"""Every setting at every layer it may stand in: written there, with rival values in all layers below it, and then
read back from the plan with value, layer, file and line. What there is comes from the list of keys itself, so a new
key is tested without a word here. Twice more where the locale writes numbers in its own way."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ["JIANMU_BUILD"]
UNDER = os.environ.get("JIANMU_UNDER", "").split()
NAMES = {"network": ["net-a", "net-b", "net-c", "net-d", "net-e"], "scope": ["tools", "all", "tools", "all", "tools"],
         "mode": ["boxed", "local", "boxed", "local", "boxed"]}
ORDER = ["yaml", "tools", "constraints", "call"]  # from the lowest up
failures = []


def plugins(where):
    for sub in ("backends", "tools", "etc/jianmu"):
        os.makedirs(os.path.join(where, sub), 0o755)
    for fixture, name in (("tools", "tools/noted"), ("local", "backends/local"), ("boxed", "backends/boxed"),
                          ("docker", "backends/docker")):
        to = os.path.join(where, name + ".so")
        shutil.copyfile(os.path.join(BUILD, "tests/settings/.libs", f"noted_{fixture}.so"), to)
        os.chmod(to, 0o755)


class Probe:
    def __init__(self, where, env):
        self.base = {"dirs": [where], "sysconfdir": os.path.join(where, "etc"),
                     "plugin_root": os.path.join(where, "none")}
        self.process = subprocess.Popen([*UNDER, os.path.join(BUILD, "tests/settings/probe")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=env, text=True, encoding="utf-8")

    def ask(self, **request):
        self.process.stdin.write(json.dumps(self.base | request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the probe is gone", "message": ""}

    def close(self):
        self.process.stdin.close()
        return self.process.wait(60)


def value(key, n):
    """The n-th different value of a key: as it is written, and as it must come back."""
    name, kind = key["name"], key["type"]
    if name in NAMES:
        return NAMES[name][n], NAMES[name][n]
    if kind == "str":
        return f"text-{n}", f"text-{n}"
    if kind == "bool":
        flag = (n % 2 == 0) != bool(key["default"])
        return flag, flag
    if kind == "int":
        return 11 + n, 11 + n
    if kind == "real":
        return 0.5 + n, 0.5 + n
    if kind == "seconds":
        return f"{n + 1}.5s", n + 1.5
    if kind == "size":
        return f"{n + 3}k", (n + 3) * 1024
    if kind == "list":
        return ([f"/d{n}"],) * 2 if name == "plugins.path" else ([f"N{n}", "M"],) * 2
    return ({f"K{n}": "v"},) * 2


def yaml_lines(key, written):
    """The key in the file, and the number of its line."""
    lines = [f"# a line before {key['key']}"]
    *sections, last = key["key"].split(".")
    for depth, section in enumerate(sections):
        lines.append("  " * depth + section + ":")
    lines.append("  " * len(sections) + last + ": " + json.dumps(written))
    return lines, len(lines)


def compose(key, layers):
    """A request in which the key stands in all these layers; of the highest the value, file and line."""
    request, text, line = {}, [], {}
    for n, layer in enumerate(layers):
        written, read = value(key, n)
        if layer == "yaml":
            more, line["yaml"] = yaml_lines(key, written)
            text += more
        elif layer == "tools":
            text += ["tools:", "  " + ("k*d" if not key.get("tool") else key["tool"]) + ":",
                     f"    {key['name']}: {json.dumps(written)}"]
            line["tools"] = len(text)
        elif layer == "constraints":
            request["constraints"] = {key["name"]: written}
        else:
            written = read
            request["timeout"] = read
    return request | {"text": "\n".join(text) + "\n", "name": "some/jianmu.yaml"}, read, line.get(layers[-1])


def check(title, got, name, read, layer, source, line):
    got = got.get("settings", {}).get(name, got)
    want = {"value": read, "layer": layer, "source": source}
    if line:
        want |= {"file": "some/jianmu.yaml", "line": line}
    if got != want:
        failures.append(f"{title}: got {got}, must be {want}")


def where_used(key):
    """Subject and mode in which the key is seen."""
    subject = key.get("tool") or "keyed"
    mode = key.get("mode") or ("boxed" if key["key"] in ("docker_image", "tmpfs_noexec") else None)
    return {"want": "explain", "subject": subject} | ({"mode": mode} if mode and key["name"] != "mode" else {})


def one_key(probe, key):
    layers = [layer for layer in ORDER if layer in key["layers"]]
    count = 0
    for top in range(1, len(layers) + 1):
        request, read, line = compose(key, layers[:top])
        layer = layers[top - 1]
        source = f"some/jianmu.yaml:{line}" if line else layer
        title = f"{key['key']} in {layer} over {layers[:top - 1]}"
        check(title, probe.ask(**request, **where_used(key)), key["name"], read, layer, source, line)
        count += 1
    return count


def defaults(probe, keys):
    """What is not set: the default that the list of keys tells, or what a tool or a backend puts in its place."""
    count = 0
    got = {mode: probe.ask(text="", want="explain", subject="bare", mode=mode)["settings"]
           for mode in ("local", "boxed", "docker")}
    got |= {tool: probe.ask(text="", want="explain", subject=tool)["settings"] for tool in ("keyed", "keyed_too")}
    for key in keys:
        if key["key"].startswith(("plugins.", "events.")) or "." not in key["key"] or key.get("tool") == "ill":
            continue
        shown = got[key.get("mode") or key.get("tool") or "local"].get(key["name"])
        want = {"value": key["default"], "layer": "unset" if key["default"] is None else "default"}
        count += 1
        if shown is None or any(shown[k] != v for k, v in want.items()):
            failures.append(f"default of {key['key']}: got {shown}, must be {want}")
    return count


def unknown_layers(probe, keys):
    """Where a key may not stand it is refused."""
    count = 0
    for key in keys:
        written, _ = value(key, 0)
        same = [k for k in keys if k["name"] == key["name"]]
        if not any("constraints" in k["layers"] for k in same):
            got = probe.ask(text="", want="explain", subject="bare", constraints={key["name"]: written})
            count += 1
            if got.get("error") != "invalid" or "unknown field" not in got["message"]:
                failures.append(f"{key['key']} in constraints: {got}")
        if not any("tools" in k["layers"] for k in same) and not key["key"].startswith(("plugins.", "events.")):
            text = f"tools:\n  bare:\n    {key['name']}: {json.dumps(written)}\n"
            got = probe.ask(text=text, name="t.yaml", want="explain", subject="bare")
            count += 1
            if got.get("error") != "invalid" or not got["message"].startswith("t.yaml:3:5: unknown key"):
                failures.append(f"{key['key']} in tools: {got}")
        if "yaml" not in key["layers"] and not key.get("tool"):
            got = probe.ask(text=f"execution:\n  {key['name']}: {json.dumps(written)}\n", name="y.yaml")
            count += 1
            if got.get("error") != "invalid" or not got["message"].startswith("y.yaml:2:3: unknown key"):
                failures.append(f"{key['key']} in yaml: {got}")
    return count


def a_round(number, title, env):
    global failures
    failures = []
    where = os.path.realpath(tempfile.mkdtemp(prefix="jianmu-keys-"))
    os.chmod(where, 0o755)
    try:
        plugins(where)
        probe = Probe(where, env)
        keys = probe.ask(text="", want="keys")
        assert isinstance(keys, list), keys
        seen = [k for k in keys if not k["key"].startswith(("plugins.", "events."))]
        count = sum(one_key(probe, key) for key in seen)
        count += defaults(probe, keys) + unknown_layers(probe, keys)
        if probe.close() != 0:
            failures.append("the probe did not end well")
        if len(keys) < 50 or count < 200:
            failures.append(f"only {count} checks of {len(keys)} keys")
    finally:
        shutil.rmtree(where)
    for line in failures[:20]:
        print("#", line)
    print(f"{'not ok' if failures else 'ok'} {number} - {len(keys)} keys, {count} readings{title}")
    return bool(failures)


def main():
    heard = ("JIANMU_CONFIG", "JIANMU_PLUGIN", "JIANMU_TOOL", "LC_", "LANG")
    env = {k: v for k, v in os.environ.items() if not k.startswith(heard)}
    env |= {"HOME": "/nonexistent", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": ""}
    os.umask(0o022)
    print("1..4")
    failed = a_round(1, "", env)
    where = tempfile.mkdtemp(prefix="jianmu-locale-")
    try:
        for number, source in enumerate(("de_DE", "tr_TR", "ps_AF"), 2):
            title = f", locale {source}"
            made = shutil.which("localedef") and subprocess.run(
                ["localedef", "-i", source, "-f", "UTF-8", f"{where}/{source}.UTF-8"], capture_output=True)
            if not made or not os.path.isdir(f"{where}/{source}.UTF-8"):
                print(f"ok {number} - all keys{title} # SKIP localedef or its sources are not here")
                continue
            failed |= a_round(number, title, env | {"LOCPATH": where, "LC_ALL": f"{source}.UTF-8"})
    finally:
        shutil.rmtree(where)
    return failed


sys.exit(main())
