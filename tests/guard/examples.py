# SPDX-License-Identifier: Apache-2.0
"""The sections in doc/examples/ load, say what the manual page prints of them, and do what they say they do."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = os.environ["JIANMU_BUILD"], os.environ["JIANMU_SOURCE"]
ALLOW, CONFIRM, DENY = 1, 2, 3
READ, WRITE, DANGEROUS = 1, 2, 3
OPEN_WORLD = 4
number = failed = 0


def report(good, what, detail=None):
    global number, failed
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {what}")
    if not good:
        print("#", detail)


def example(name):
    with open(os.path.join(SOURCE, "doc/examples", name), encoding="utf-8") as file:
        return file.read()


def ask(where, yaml, policy, calls):
    steps = [{"at": i, "do": "decide", "ticket": i, "call": {"mode": "local", "plan": {"timeout_s": 5.0}, "flags": 0} | call}
             for i, call in enumerate(calls)]
    done = subprocess.run([os.path.join(BUILD, "tests/guard/evaluate"), where, f"{where}/etc"], text=True,
                          input=json.dumps({"yaml": yaml, "policy": policy, "steps": steps}) + "\n", capture_output=True)
    return json.loads(done.stdout) if done.returncode == 0 else [{"message": done.stderr}] * len(calls)


def expect(where, title, yaml, policy, table):
    answers = ask(where, yaml, policy, [call for call, *_ in table])
    for (call, verdict, rule), got in zip(table, answers):
        report((got.get("verdict"), got.get("rule")) == (verdict, rule),
               f"{title}: {call['tool']} {call.get('args', '')}", got)


def page():
    with open(os.path.join(SOURCE, "doc/jianmu-policy.7"), encoding="utf-8") as file:
        text = file.read()
    for name in ("guard-workstation.yaml", "guard-service.yaml", "policy.yaml"):
        there = re.search(r'^\.\\" BEGIN ' + re.escape(name) + r'\n(.*?)\n\.\\" END', text, re.S | re.M)
        printed = there.group(1).replace("\\e", "\\").replace("\\&", "") if there else None
        report(printed is not None and printed + "\n" == example(name).split("\n", 1)[1], f"the page prints {name}", printed)


def workstation(where):
    expect(where, "workstation", example("guard-workstation.yaml"), None, [
        ({"tool": "read_file", "danger": READ, "args": {"path": "src/main.c"}}, ALLOW, "profile standard"),
        ({"tool": "read_file", "danger": READ, "args": {"path": "home/.ssh/config"}}, DENY, "no-secrets"),
        ({"tool": "write_file", "danger": WRITE, "args": {"path": ".env"}}, DENY, "no-secrets"),
        ({"tool": "read_file", "danger": READ, "args": {"path": "my.environment"}}, ALLOW, "profile standard"),
        ({"tool": "run_python", "danger": DANGEROUS, "args": {"code": "1"}}, ALLOW, "short-python"),
        ({"tool": "run_python", "danger": DANGEROUS, "plan": {"timeout_s": 60.0}}, CONFIRM, "profile standard"),
        ({"tool": "run_shell", "danger": DANGEROUS, "args": {"command": "ls"}}, CONFIRM, "profile standard")]
        + [({"tool": "http_request", "danger": READ, "flags": OPEN_WORLD}, ALLOW, "profile standard")] * 30
        + [({"tool": "http_request", "danger": READ, "flags": OPEN_WORLD}, DENY, "web")])


def service(where):
    api = {"tool": "http_request", "danger": READ, "flags": OPEN_WORLD, "args": {"url": "https://api.example.com/v1"}}
    expect(where, "service", example("guard-service.yaml"), None, [
        ({"tool": "list_dir", "danger": READ}, ALLOW, "reading"),
        (api, ALLOW, "our-api"),
        (api | {"args": {"url": "https://api.example.com.evil.example/"}}, DENY, "the-rest"),
        (api | {"args": {}}, DENY, "the-rest"),
        ({"tool": "job", "danger": DANGEROUS}, DENY, "the-rest")]
        + [(api | {"run_id": "r"}, ALLOW, "our-api")] * 20 + [(api | {"run_id": "r"}, DENY, "api")])


def administrator(where):
    expect(where, "policy", "guard: {profile: dev}", example("policy.yaml"), [
        ({"tool": "run_shell", "danger": DANGEROUS}, DENY, "no-shell"),
        ({"tool": "job", "danger": DANGEROUS}, CONFIRM, "jobs-are-asked"),
        ({"tool": "run_python", "danger": DANGEROUS}, CONFIRM, "profile standard"),
        ({"tool": "read_file", "danger": READ}, ALLOW, "profile dev")])


def main():
    where = tempfile.mkdtemp(prefix="jianmu-examples-")
    try:
        os.chmod(where, 0o755)
        subprocess.run(["bash", os.path.join(SOURCE, "tests/plugin-dir.sh"), where, BUILD], check=True)
        os.makedirs(f"{where}/etc/jianmu", 0o755)
        if not os.path.exists(f"{where}/tools/http_request.so"):
            print("1..0 # SKIP there is no http_request, which the examples name")
            return 0
        page()
        workstation(where)
        service(where)
        administrator(where)
    finally:
        shutil.rmtree(where)
    print(f"1..{number}")
    return 1 if failed else 0


sys.exit(main())
