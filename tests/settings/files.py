# SPDX-License-Identifier: Apache-2.0
"""Which file is read, which directories are looked into, what the environment may say, and what a file may say that
merely lies in the current directory."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ["JIANMU_BUILD"]
UNDER = os.environ.get("JIANMU_UNDER", "").split()
PROBE = os.path.join(BUILD, "tests/settings/probe")
root = os.path.realpath(tempfile.mkdtemp(prefix="jianmu-files-"))
count = 0
failed = 0


def report(name, good, got=None):
    global count, failed
    count += 1
    failed += not good
    if not good:
        print("# got:", json.dumps(got))
    print(f"{'ok' if good else 'not ok'} {count} - {name}")


def skip(name, why):
    global count
    count += 1
    print(f"ok {count} - {name} # SKIP {why}")


def path(*names):
    return os.path.join(root, *names)


def write(name, text):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "w", encoding="utf-8") as f:
        f.write(text)
    return path(name)


def remove(*names):
    for name in names:
        os.unlink(path(name))


def put(fixture, name):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    shutil.copyfile(os.path.join(BUILD, "tests/settings/.libs", f"noted_{fixture}.so"), path(name))
    os.chmod(path(name), 0o755)


def ask_as_nobody(**request):
    """Root may read everything; what is to be refused by its mode is asked for without its rights."""
    program = path("probe_for_all")
    if not os.path.exists(program):
        shutil.copyfile(PROBE, program)
        os.chmod(program, 0o755)
    os.chmod(root, 0o755)
    return ask(program=program, drop=os.geteuid() == 0, **request)


def ask(env=None, program=PROBE, drop=False, **request):
    base = {"sysconfdir": path("etc"), "plugin_root": path("installed"), "dirs": [path("plugins")]}
    clean = {"PATH": os.environ.get("PATH", ""), "HOME": path("home")}
    clean |= {k: v for k, v in os.environ.items() if k.startswith(("ASAN", "LSAN", "UBSAN", "LD_"))}
    other = {"user": 65534, "group": 65534, "extra_groups": []} if drop else {}
    done = subprocess.run([*UNDER, program, json.dumps(base | request)], cwd=path("cwd"), env=clean | (env or {}),
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, **other)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"error": "crash", "message": f"{done.returncode} {done.stderr!r}"}


def refused(name, got, message):
    report(name, got.get("error") == "invalid" and got.get("message") == message, got)


def read(name, got, file, cwd=False):
    report(name, got == {"file": file, "cwd": cwd}, got)


def search_order():
    one = "execution:\n  timeout_s: 1\n"
    env = {"JIANMU_CONFIG": write("named/env.yaml", one), "XDG_CONFIG_HOME": path("xdg")}
    write("cwd/jianmu.yaml", one)
    write("xdg/jianmu/jianmu.yaml", one)
    write("home/.config/jianmu/jianmu.yaml", one)
    write("etc/jianmu/jianmu.yaml", one)
    named = write("named/arg.yaml", one)
    read("the file that is named comes first", ask(env, file=named), named)
    read("then $JIANMU_CONFIG", ask(env), path("named/env.yaml"))
    del env["JIANMU_CONFIG"]
    read("an empty $JIANMU_CONFIG is none; then the current directory", ask(env | {"JIANMU_CONFIG": ""}), "jianmu.yaml",
         True)
    remove("cwd/jianmu.yaml")
    read("then $XDG_CONFIG_HOME", ask(env), path("xdg/jianmu/jianmu.yaml"))
    read("a relative $XDG_CONFIG_HOME is none", ask({"XDG_CONFIG_HOME": "../xdg"}),
         path("home/.config/jianmu/jianmu.yaml"))
    read("then ~/.config", ask(), path("home/.config/jianmu/jianmu.yaml"))
    read("without HOME the system's", ask({"HOME": ""}), path("etc/jianmu/jianmu.yaml"))
    remove("home/.config/jianmu/jianmu.yaml")
    read("then the system's", ask(), path("etc/jianmu/jianmu.yaml"))
    remove("etc/jianmu/jianmu.yaml")
    read("then none", ask(), None)


def unreadable():
    missing = path("named/missing.yaml")
    refused("a named file must be there", ask(file=missing), f"cannot open {missing}: No such file or directory")
    refused("that of $JIANMU_CONFIG too", ask({"JIANMU_CONFIG": missing}),
            f"$JIANMU_CONFIG: cannot open {missing}: No such file or directory")
    os.mkfifo(path("named/fifo"))
    refused("a FIFO is no file, and does not block", ask(file=path("named/fifo")),
            f"{path('named/fifo')} is not a regular file")
    refused("a directory is none", ask(file=path("named")), f"{path('named')} is not a regular file")
    refused("a device is none", ask(file="/dev/zero"), "/dev/zero is not a regular file")
    os.mkdir(path("cwd/jianmu.yaml"))
    refused("what lies in the current directory is not passed over", ask(), "jianmu.yaml is not a regular file")
    os.rmdir(path("cwd/jianmu.yaml"))
    os.symlink("jianmu.yaml", path("cwd/jianmu.yaml"))
    refused("a link to itself", ask(), "cannot open jianmu.yaml: Too many levels of symbolic links")
    remove("cwd/jianmu.yaml")
    large = write("named/large.yaml", "#" * 1048577)
    refused("a file of more than 1 MiB", ask(file=large), f"{large}: the file is larger than 1 MiB")
    read("a file of 1 MiB", ask(file=write("named/full.yaml", "#" * 1048576)), path("named/full.yaml"))
    os.chmod(large, 0)
    refused("a file that may not be read", ask_as_nobody(file=large), f"cannot open {large}: Permission denied")
    bad = write("named/bad.yaml", "execution:\n  timeout_s: 30 s\n")
    refused("a complaint begins with the file as it was named", ask(file=bad),
            f"{bad}:2:14: execution.timeout_s: \"30 s\" has a blank in it")
    refused("and where there is none but a name, with that", ask(text="a: [", name="from memory"),
            "from memory:2:1: did not find expected node content, while parsing a flow node")


def from_cwd():
    def in_cwd(text):
        write("cwd/jianmu.yaml", text)
        return ask()

    tail = "; pass it with --config jianmu.yaml"
    read("limits and mode may stand in a file that was found",
         in_cwd("execution: {tool_runner: local, timeout_s: 5, boxed: {memory: 1g, word: x}, artifacts: {count: 5},"
                " docker: {image: i, network: none}}\n"), "jianmu.yaml", True)
    for section in ("plugins: {path: [/evil]}", "tools: {'*': {timeout_s: 1}}", "plugins: {}"):
        name = section.split(":")[0]
        refused(f"{section} may not", in_cwd(section + "\n"),
                f'jianmu.yaml:1:1: "{name}" may not stand in a file that was found in the current directory{tail}')
    for mode, key, written in (("local", "python", "/tmp/evil"), ("local", "env_allowlist", "[TOKEN]"),
                               ("boxed", "python", "x"), ("boxed", "private", "x"), ("boxed", "env_allowprefix", "[T]"),
                               ("docker", "env_allowlist", "[T]"), ("docker", "env_allowprefix", "[T]")):
        refused(f"execution.{mode}.{key} may not", in_cwd(f"execution:\n  {mode}:\n    {key}: {written}\n"),
                f"jianmu.yaml:3:5: execution.{mode}.{key} may not be set by a file that was found in the current "
                "directory; pass it with --config jianmu.yaml")
        report(f"execution.{mode}.{key} may stand there when the file is named",
               ask(file="jianmu.yaml").get("cwd") is False)
    outer = write("home/.config/jianmu/jianmu.yaml",
                  "execution: {timeout_s: 9, nofile: 99}\nguard: {max: {timeout_s: 60}}\ntools: {bare: {capture: 5}}\n")
    write("cwd/jianmu.yaml", "execution: {timeout_s: 90}\n")
    got = ask(want="explain", subject="bare")
    report("a maximum of the file that it stands before holds", got.get("over_max") ==
           f"timeout_s: 90.0 (jianmu.yaml:1) is above the maximum 60.0 ({outer}:2)", got)
    report("what it may not set is that of the other", got["settings"]["capture"]["source"] == f"{outer}:3", got)
    report("what it may set and does not is nobody's", got["settings"]["nofile"]["value"] is None, got)
    write("home/.config/jianmu/jianmu.yaml", "gaurd: {}\n")
    got = ask()
    report("the other is read with all care", got.get("message", "").startswith(f"{outer}:1:1: "), got)
    remove("home/.config/jianmu/jianmu.yaml")
    os.mkdir(path("evil"))
    put("boxed", "evil/backends/evil.so")
    got = in_cwd(f"plugins: {{path: [{path('evil')}]}}\nexecution: {{evil: {{}}}}\n")
    refused("its plug-ins are not even looked for", got,
            f'jianmu.yaml:1:1: "plugins" may not stand in a file that was found in the current directory{tail}')
    remove("cwd/jianmu.yaml")


def directories():
    env = {"JIANMU_PLUGIN_PATH": f"{path('p1')}:{path('p2')}", "XDG_DATA_HOME": path("data")}
    order = [("arg", "--plugin-dir"), ("p1", "JIANMU_PLUGIN_PATH"), ("p2", "JIANMU_PLUGIN_PATH"),
             ("yaml", "plugins.path"), ("data/jianmu", "user"), ("installed", "installed")]
    for directory, _ in order:
        put("tools", f"{directory}/tools/noted.so")
    request = {"dirs": [path("arg")], "text": f"plugins:\n  path: [{path('yaml')}]\n", "want": "plugins"}
    got = ask(env, **request)
    seen = [(item["path"], item["origin"], item["state"]) for item in got if item.get("name") == "bare"]
    want = [(path(directory, "tools/noted.so"), origin, "usable" if n == 0 else "shadowed")
            for n, (directory, origin) in enumerate(order)]
    report("all six places are looked into, in order, and the first wins", seen == want, seen)
    put("tools", "home/.local/share/jianmu/tools/noted.so")
    got = ask({}, text="", dirs=[], want="plugins")
    seen = [item["path"] for item in got if item.get("name") == "bare"]
    report("without XDG_DATA_HOME the user's are in ~/.local/share",
           seen == [path("home/.local/share/jianmu/tools/noted.so"), path("installed/tools/noted.so")], seen)
    remove("home/.local/share/jianmu/tools/noted.so", "installed/tools/noted.so")
    for bad, shown in (("plugins", "plugins"), ("/a:b", "b"), (":/a", ""), ("/a:", ""), ("/a::/b", ""),
                       ("/a:./b:/c", "./b")):
        refused(f"JIANMU_PLUGIN_PATH={bad}", ask({"JIANMU_PLUGIN_PATH": bad}, text=""),
                f'$JIANMU_PLUGIN_PATH: "{shown}" in it is not an absolute path')
    refused("a relative --plugin-dir", ask(dirs=["plugins"], text=""),
            'plug-in directory: "plugins" is not an absolute path')


def environment():
    def args_max(value, text=""):
        got = ask({"JIANMU_TOOL_ARGS_MAX": value}, text=text, name="y", want="explain", subject="bare")
        return got.get("settings", {}).get("tool_args_max", got)

    got = args_max("1000")
    report("$JIANMU_TOOL_ARGS_MAX is the default", got == {"value": 1000, "layer": "default",
                                                           "source": "default ($JIANMU_TOOL_ARGS_MAX)"}, got)
    got = args_max("1000", "execution: {tool_args_max: 500}")
    report("and the file goes before it", got["value"] == 500 and got["source"] == "y:1", got)
    got = args_max("1000", "execution: {tool_args_max: null}")
    report("null does not", got["value"] == 1000, got)
    for bad, why in (("0", "is too small"), ("131055", "is too large, at most 131054"),
                     ("64k", "is not a whole number"), ("-1", "is negative"),
                     (" 5", "has a blank in it"), ("nan", "is not a finite number")):
        refused(f"JIANMU_TOOL_ARGS_MAX={bad}", args_max(bad), f'$JIANMU_TOOL_ARGS_MAX: "{bad}" {why}')


def policy():
    write("etc/jianmu/policy.yaml", "max: {timeout_s: 60}\n")
    named = write("named/arg.yaml", "execution: {timeout_s: 90}\n")
    source = f"({path('etc/jianmu/policy.yaml')}:1)"
    for title, request in (("a named file", {"file": named}), ("$JIANMU_CONFIG", {}),
                           ("a text", {"text": "execution: {timeout_s: 90}", "name": named})):
        got = ask({"JIANMU_CONFIG": named}, want="explain", subject="bare", **request)
        report(f"policy.yaml bounds {title}", got.get("over_max") ==
               f"timeout_s: 90.0 ({named}:1) is above the maximum 60.0 {source}", got)
    got = ask(want="explain", subject="bare")
    report("and where there is no file", got["settings"]["timeout_s"]["value"] == 60.0, got)
    os.chmod(path("etc/jianmu/policy.yaml"), 0)
    refused("a policy that cannot be read stops everything", ask_as_nobody(),
            f"cannot open {path('etc/jianmu/policy.yaml')}: Permission denied")
    remove("etc/jianmu/policy.yaml")
    os.mkdir(path("etc/jianmu/policy.yaml"))
    refused("one that is no file too", ask(), f"{path('etc/jianmu/policy.yaml')} is not a regular file")
    os.rmdir(path("etc/jianmu/policy.yaml"))
    os.symlink("nowhere", path("etc/jianmu/policy.yaml"))
    nowhere = "is no directory, or a link that leads nowhere"
    refused("one that is a link to nothing", ask(), f"the policy {path('etc/jianmu/policy.yaml')} cannot be found: "
            f"{path('etc/jianmu/policy.yaml')} {nowhere}")
    remove("etc/jianmu/policy.yaml")
    os.rename(path("etc/jianmu"), path("etc/kept"))
    os.symlink("nowhere", path("etc/jianmu"))
    refused("and one whose directory is", ask(),
            f"the policy {path('etc/jianmu/policy.yaml')} cannot be found: {path('etc/jianmu')} {nowhere}")
    remove("etc/jianmu")
    read("without the directory there is none", ask(), None)
    os.rename(path("etc/kept"), path("etc/jianmu"))


def program_with_rights():
    """A copy of the probe that runs with another user or group than its caller's, or None and why not."""
    program = path("probe")
    shutil.copyfile(PROBE, program)
    os.chmod(root, 0o755)
    if os.statvfs(program).f_flag & os.ST_NOSUID:
        return None, "the directory is mounted nosuid"
    if os.geteuid() == 0:
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        return program, None
    others = [group for group in os.getgroups() if group != os.getegid()]
    if not others:
        return None, "this user has one group only"
    os.chown(program, -1, others[0])
    os.chmod(program, 0o2755)
    return program, None


def more_rights():
    """A set-user-id program hears neither the environment nor the current directory."""
    put("local", "plugins/backends/local.so")
    write("cwd/jianmu.yaml", "wrong: {}\n")
    env = {"JIANMU_CONFIG": write("named/env.yaml", "wrong: {}\n"), "JIANMU_PLUGIN_PATH": "relative",
           "XDG_CONFIG_HOME": path("xdg"), "JIANMU_TOOL_ARGS_MAX": "1000"}
    write("xdg/jianmu/jianmu.yaml", "wrong: {}\n")
    report("with the rights of its caller it does hear them", "error" in ask(env))
    read("with more rights it does not", ask(env, secure=True, dirs=[]), None)
    got = ask(env, secure=True, want="explain", subject="job")
    report("nor the default that the environment names",
           got.get("settings", {}).get("tool_args_max", {}).get("value") == 60000, got)
    program, why = program_with_rights()
    if program:
        read("it sees by itself that it has more rights", ask(env, program=program, dirs=[]), None)
    else:
        skip("it sees by itself that it has more rights", why)
    remove("cwd/jianmu.yaml", "xdg/jianmu/jianmu.yaml")


def main():
    os.umask(0o022)
    for directory in ("cwd", "home", "named", "etc/jianmu", "installed"):
        os.makedirs(path(directory))
    put("tools", "plugins/tools/noted.so")
    put("local", "plugins/backends/local.so")
    put("boxed", "plugins/backends/boxed.so")
    try:
        for part in (search_order, unreadable, from_cwd, directories, environment, policy, more_rights):
            part()
    finally:
        shutil.rmtree(root)
    print(f"1..{count}")
    return failed > 0


sys.exit(main())
