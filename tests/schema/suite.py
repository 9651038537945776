# SPDX-License-Identifier: Apache-2.0
"""The official test suite of JSON Schema, drafts 07 and 2020-12, as Debian's packages ship it. Of the keywords that are
supported at least 99 of 100 tests must agree. What is not supported is refused when the schema is loaded, and stands in
exceptions.txt with the reason; a wrong verdict is nowhere allowed."""
import glob
import json
import os
import subprocess
import sys

SUITES = {"draft7": ["/usr/share/json-schema-test-suite/tests",
                     "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests"],
          "draft2020-12": ["/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance/tests"]}
PACKAGES = "json-schema-test-suite and libtest-json-schema-acceptance-perl are not installed"
if os.environ.get("JIANMU_SCHEMA_SUITE"):  # another directory with draft7/ or draft2020-12/ in it
    SUITES = {draft: [os.environ["JIANMU_SCHEMA_SUITE"]] for draft in SUITES}
DIALECT = {"draft7": "http://json-schema.org/draft-07/schema#",
           "draft2020-12": "https://json-schema.org/draft/2020-12/schema"}
count = failed = 0


def line(good, name, why=()):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    for text in why:
        print("# " + text)


def exceptions():
    """(draft, file, group) -> reason; the group "*" is the whole file."""
    found = {}
    with open(os.path.join(os.environ["JIANMU_SOURCE"], "tests/schema/exceptions.txt"), encoding="utf-8") as text:
        for row in text:
            if row.strip() and not row.startswith("#"):
                draft, name, group, reason = row.rstrip("\n").split("\t")
                found[draft, name, group] = reason
    return found


class Judge:
    def __init__(self):
        self.process = subprocess.Popen([os.path.join(os.environ["JIANMU_BUILD"], "tests/schema/judge")], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def ask(self, schema, values):
        self.process.stdin.write(json.dumps({"schema": schema, "values": values}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def run_file(judge, draft, path, known, totals):
    name = os.path.basename(path)[:-5]
    complaints, refused_whole = [], (draft, name, "*") in known
    with open(path, encoding="utf-8") as text:
        groups = json.load(text)
    for group in groups:
        schema, tests = group["schema"], group["tests"]
        if isinstance(schema, dict) and "$schema" not in schema:
            schema = {"$schema": DIALECT[draft], **schema}
        answer = judge.ask(schema, [test["data"] for test in tests])
        expected = [int(test["valid"]) for test in tests]
        got = answer.get("verdicts", [])
        refused = "error" in answer or "unreadable" in answer
        agree = len(tests) if not refused and got == expected else \
            0 if refused else sum(a == b for a, b in zip(got, expected))
        named = (draft, name, group["description"]) in known
        if refused_whole:
            totals[2] += len(tests)
            if not refused and agree != len(tests):
                complaints.append(f"{group['description']}: neither refused nor right")
            continue
        if named:
            totals[2] += len(tests)
        else:
            totals[0] += agree
            totals[1] += len(tests)
        if agree != len(tests) and not named:
            complaints.append(f"{group['description']}: {answer} instead of {expected}"[:600])
        if named and not refused and agree == len(tests):
            complaints.append(f"{group['description']}: is in exceptions.txt, and right")
        if named and not refused and agree != len(tests):
            complaints.append(f"{group['description']}: wrong, and not refused")
    line(not complaints, f"{draft} {name}", complaints)


def main():
    known, judge, ran = exceptions(), Judge(), 0
    for draft, places in SUITES.items():
        for place in places:
            paths = sorted(glob.glob(os.path.join(place, draft, "*.json")))
            totals = [0, 0, 0]  # agree, of so many, not supported
            for path in paths:
                run_file(judge, draft, path, known, totals)
            ran += len(paths)
            if paths:
                share = 100 * totals[0] / max(totals[1], 1)
                line(share >= 99 and totals[1] > 300,
                     f"{draft}: {totals[0]} of {totals[1]} tests of supported keywords agree, {share:.2f} %; "
                     f"{totals[2]} of others are refused or right")
    if not ran:
        print(f"1..0 # SKIP {PACKAGES}")
        return 0
    judge.process.stdin.close()
    line(judge.process.wait() == 0, "the judge ended well")
    print(f"1..{count}")
    return failed > 0


sys.exit(main())
