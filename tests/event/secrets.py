# SPDX-License-Identifier: Apache-2.0
"""A sentinel in arguments, results, errors, output and environment is in no sink, whatever becomes of the call, unless it
is asked for; and what is a secret by its form is in none even then."""
import json

import kit
from kit import check, cli, fresh, path, python

WORD = "hunter2-SENTINEL-4711"
HIDDEN = {"jsonl": {"file": path("lines")}, "otlp": {"file": path("spans")}}
ENV = {"SECRET": WORD}
CODE = {
    "arguments": f"x = '{WORD}'",
    "a result": f"print('{WORD}')",
    "a result that is put together": "print('hunter2-' + 'SENTINEL-4711')",
    "standard error": "import sys; print('hunter2-' + 'SENTINEL-4711', file=sys.stderr)",
    "an error": "raise ValueError('hunter2-' + 'SENTINEL-4711')",
    "an error and standard error": "import sys; print('hunter2-' + 'SENTINEL-4711', file=sys.stderr); sys.exit(3)",
    "a timeout": f"import time; print('{WORD}', flush=True); time.sleep(60)",
    "a crash": "import os; os.write(2, b'hunter2-' + b'SENTINEL-4711'); os.kill(os.getpid(), 11)",
}


def sinks(events, call):
    for name in ("lines", "spans"):
        fresh(name)
    run = call(events)
    return run, kit.text("lines") + kit.text("spans")


def pair(told):
    """How many starts and how many ends."""
    return (told.count('"event":"execution.started"'),
            told.count('"event":"execution.completed"') + told.count('"event":"execution.failed"'))


def job(events):
    script = path("script")
    with open(script, "w", encoding="utf-8") as f:
        f.write("import sys, os; print(sys.argv, os.environ.get('SECRET')); print(sys.argv, file=sys.stderr); sys.exit(4)")
    return cli("job", script, "--env", f"SECRET={WORD}", "--", WORD, events=events, env=ENV)


for name, code in CODE.items():
    run, told = sinks(HIDDEN, lambda e, c=code: python(c, "--timeout", "1s", events=e, env=ENV))
    check(f"{name}: a start, an end and a span", (*pair(told), told.count("resourceSpans")), (1, 1, 1))
    check(f"{name}: untold", WORD in told, False)
run, told = sinks(HIDDEN, job)
check("a job ran with it", WORD in run.stdout and WORD in run.stderr)
check("a job: untold", (*pair(told), WORD in told), (1, 1, False))
for name, call in (("arguments of the wrong type", lambda e: cli("run", "run_python", "--args", json.dumps({"code": [WORD]}), events=e)),
                   ("an unknown argument", lambda e: cli("run", "run_python", "--args", json.dumps({"code": "1", WORD: 1}), events=e))):
    run, told = sinks(HIDDEN, call)
    check(f"{name}: refused and untold", (run.returncode != 0, *pair(told), WORD in told), (True, 1, 1, False))

# asked for, it is there; in both sinks
for what, code in (("arguments", f"x = '{WORD}'"), ("result", "print('hunter2-' + 'SENTINEL-4711')"),
                   ("error", "raise ValueError('hunter2-' + 'SENTINEL-4711')")):
    sinks(HIDDEN | {"include": [what]}, lambda e, c=code: python(c, events=e))
    check(f"include {what}: told", [WORD in kit.text(name) for name in ("lines", "spans")], [True, True])
    sinks(HIDDEN | {"include": [what], "redact": ["hunter2[^']*?4711"]}, lambda e, c=code: python(c, events=e))
    told = kit.text("lines") + kit.text("spans")
    check(f"include {what}: blotted out by a pattern", (WORD in told, "[redacted]" in told), (False, True))

FORMS = ["sk-proj-abcdefghijklmnop1234", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "github_pat_11ABCDEFG0abcdefghijkl_mn",
         "glpat-abcdefghij_klmnopqr", "xoxb-1234567890-abcdef", "AKIAIOSFODNN7EXAMPLE", "AIzaSyA-1234567890abcdefghijklmnopqrstu",
         "hf_abcdefghijklmnopqrstuvwx", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "Bearer abcdefghijklmnop0123",
         "https://user:pa55word@example.org/", "password=s3cr3t-value", "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----"]
PARTS = ["proj-abcdefgh", "abcdefghijklmnopqrstuvwxyz", "11ABCDEFG0", "abcdefghij_klm", "1234567890-a", "IOSFODNN7", "1234567890abc",
         "abcdefghijklmnopqrstuvwx", "c2ln", "abcdefghijklmnop0123", "pa55word", "s3cr3t-value", "MIIB"]
run, told = sinks(HIDDEN | {"include": ["result"]}, lambda e: python(f"print({' ; '.join(FORMS)!r})", events=e))
check("what is a secret by its form is in no sink", [p for p in PARTS if p in told], [])
check("but in the result", [p for p in PARTS if p not in run.stdout], [])
for name, args in (("a list", {"password": [WORD]}), ("an object", {"token": {"value": WORD}}), ("a header", {"code": f"'Authorization: Basic {WORD}'"}),
                   ("JSON in text", {"code": json.dumps({"api_key": WORD})})):
    run, told = sinks(HIDDEN | {"include": ["arguments"]}, lambda e, a=args: cli("run", "run_python", "--args", json.dumps(a), events=e))
    check(f"a secret under its name in {name}: in no sink", (WORD in told, "[redacted]" in told), (False, True))
ENDS = "a\x7f\x85\u2028\u2029b"
run, told = sinks(HIDDEN | {"include": ["arguments"]}, lambda e: python(f"# {ENDS}", events=e))
check("what ends lines elsewhere: a line an event", [json.loads(line)["event"] for line in kit.text("lines").splitlines()],
      ["execution.started", "execution.decision", "execution.completed"])
PLAIN = "task-force skim https://example.org:80/a@b tokens 5 the secret of AKIA and eyJ, 2026-12-01, a=b, ghp_short"
run, told = sinks(HIDDEN | {"include": ["result"]}, lambda e: python(f"print({PLAIN!r})", events=e))
check("ordinary text stays", PLAIN in told)

kit.done()
