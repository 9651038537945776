# SPDX-License-Identifier: Apache-2.0
"""10 000 random rule sets with calls, judged by the guard and by the evaluator below, which was written from the manual
page alone: verdict, code, rule, line, and when to try again must be the same. JIANMU_SEED and JIANMU_SETS repeat or
enlarge a run."""
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.environ["JIANMU_BUILD"]
SEED = int(os.environ.get("JIANMU_SEED", "20261201"))
SETS = int(os.environ.get("JIANMU_SETS", "10000"))
ALLOW, CONFIRM, DENY = 1, 2, 3
DENIED, LIMITED, SPENT = 30, 32, 33
OPEN_WORLD = 4
DANGERS = ["read", "write", "dangerous"]
TOOLS = ["bare", "keyed", "keyed_too", "job"]
SECOND = 1_000_000_000


# ---- the evaluator: what the manual says, in the most obvious way ----
def glob_fits(glob, text):
    return re.fullmatch("".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in glob), text,
                        re.DOTALL) is not None


def any_fits(globs, text):
    return globs is None or (text is not None and any(glob_fits(g, text) for g in globs))


MISSING = object()


def at_pointer(value, pointer):
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(token, MISSING)
        elif isinstance(value, list) and re.fullmatch("0|[1-9][0-9]{0,8}", token) and int(token) < len(value):
            value = value[int(token)]
        else:
            return MISSING
        if value is MISSING:
            return MISSING
    return value


def canonical(value):
    """Whole reals as integers; the members are sorted when it is printed."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    if isinstance(value, list):
        return [canonical(item) for item in value]
    return {key: canonical(item) for key, item in value.items()} if isinstance(value, dict) else value


def argument_fits(argument, args):
    value = MISSING if args is None else at_pointer(args, argument["at"])
    if value is MISSING:
        return False
    text = value if isinstance(value, str) else json.dumps(canonical(value), ensure_ascii=False, sort_keys=True,
                                                           separators=(",", ":"))
    if "glob" in argument:
        return glob_fits(argument["glob"], text)
    return re.search(argument["regex"], text) is not None


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def condition_holds(condition, value):
    if condition is None:
        return value is None
    if isinstance(condition, dict):
        (op, other), = condition.items()
        if op == "above":
            return value is None or value > other
        if op == "below":
            return value is not None and value < other
        texts = value if isinstance(value, (list, dict)) else [] if value is None else [value]
        return any(glob_fits(other, text) for text in texts)
    if value is None:
        return False
    if isinstance(value, (list, dict)):
        return condition in value
    return value == condition and isinstance(value, bool) == isinstance(condition, bool)


def matches(rule, call):
    return (any_fits(rule.get("tool"), call["tool"])
            and ("danger" not in rule or DANGERS[call["danger"] - 1] in rule["danger"])
            and any_fits(rule.get("mode"), call["mode"])
            and any_fits(rule.get("skill"), call.get("skill"))
            and all(condition_holds(c, call["plan"].get(name)) for name, c in rule.get("plan", {}).items())
            and all(argument_fits(a, call.get("args")) for a in rule.get("args", [])))


def opinion(section, call, default):
    """(verdict, rule, source)"""
    for rule in section.get("rules", []):
        if matches(rule, call):
            return {"allow": ALLOW, "confirm": CONFIRM, "deny": DENY}[rule["then"]], rule.get("name"), rule["source"]
    profile = section.get("profile", default)
    if profile is None:
        return ALLOW, None, None
    verdict = ALLOW
    if profile == "strict" and call["flags"] & OPEN_WORLD:
        verdict = DENY
    elif call["danger"] >= {"dev": 9, "standard": 3, "strict": 2}[profile]:
        verdict = CONFIRM
    return verdict, f"profile {profile}", section.get("profile_source", "default")


class Meter:
    """One rate or budget; everything in whole numbers."""

    def __init__(self, spec, is_rate):
        self.spec, self.is_rate, self.kept = spec, is_rate, {}

    def key(self, tool, run):
        by = self.spec["key"] if self.is_rate else self.spec["per"]
        return tool if by == "tool" else (run or "") if by == "run" else ""

    def tokens(self, tool, run, now):
        """Tokens times per, a rational kept whole."""
        per = round(self.spec["per"] * SECOND)
        most = self.spec.get("burst", self.spec["calls"]) * per
        level, when = self.kept.get(self.key(tool, run), (most, now))
        return min(most, level + (now - when) * self.spec["calls"]), per, most

    def wait(self, tool, run, now):
        level, per, _ = self.tokens(tool, run, now)
        return max(0, math.ceil(fraction(per - level, self.spec["calls"])))

    def spent(self, tool, run):
        used = self.kept.get(self.key(tool, run), {"calls": 0, "wall_s": 0, "cpu_s": 0, "output": 0})
        return any(name in self.spec and used[name] >= nanoseconds(name, self.spec[name]) for name in used)

    def take(self, tool, run, now, count=1):
        if self.is_rate:
            level, per, most = self.tokens(tool, run, now)
            self.kept[self.key(tool, run)] = (min(most, level - count * per), now)
        else:
            used = self.kept.setdefault(self.key(tool, run), {"calls": 0, "wall_s": 0, "cpu_s": 0, "output": 0})
            used["calls"] += count

    def use(self, tool, run, usage):
        if not self.is_rate:
            for name in ("wall_s", "cpu_s", "output"):
                self.kept[self.key(tool, run)][name] += nanoseconds(name, usage[name])


def fraction(n, d):
    from fractions import Fraction
    return Fraction(n, d)


def nanoseconds(name, value):
    return round(value * SECOND) if name.endswith("_s") else value


class Evaluator:
    def __init__(self, own, policy):
        self.own, self.policy = own, policy
        self.meters = [Meter(s, True) for section in (own, policy) for s in section.get("rates", [])]
        self.meters += [Meter(s, False) for section in (own, policy) for s in section.get("budgets", [])]
        self.tickets = {}

    def of(self, tool):
        return [m for m in self.meters if any_fits(m.spec.get("tool"), tool)]

    def check(self, tool, run, now):
        waits = [(m.wait(tool, run, now), m) for m in self.of(tool) if m.is_rate]
        longest = max((w for w, _ in waits), default=0)
        if longest:
            meter = next(m for w, m in waits if w == longest)
            return LIMITED, meter.spec, longest
        for meter in self.of(tool):
            if not meter.is_rate and meter.spent(tool, run):
                return SPENT, meter.spec, 0
        return None

    def decide(self, call, now, ticket):
        one, two = opinion(self.own, call, "standard"), opinion(self.policy, call, None)
        verdict, rule, source = two if two[0] > one[0] else one
        self.tickets.pop(ticket, None)
        if verdict == DENY:
            return DENY, DENIED, rule, source, 0
        if call.get("over_max"):
            return DENY, DENIED, None, None, 0
        refused = self.check(call["tool"], call.get("run_id"), now)
        if refused:
            code, spec, wait = refused
            return DENY, code, spec.get("name"), spec["source"], wait
        if not call.get("explain"):
            for meter in self.of(call["tool"]):
                meter.take(call["tool"], call.get("run_id"), now)
            self.tickets[ticket] = [call["tool"], call.get("run_id"), 1]
        return verdict, 0, rule, source, 0

    def again(self, ticket, now):
        if ticket not in self.tickets:
            return None  # nothing was allowed: what is answered does not matter
        tool, run, _ = self.tickets[ticket]
        if not self.of(tool):
            return 0
        if self.check(tool, run, now):
            return -1
        for meter in self.of(tool):
            meter.take(tool, run, now)
        self.tickets[ticket][2] += 1
        return 0

    def settle(self, ticket, usage, now):
        if ticket not in self.tickets:
            return
        tool, run, charged = self.tickets.pop(ticket)
        back = max(0, charged - usage["attempts"])
        for meter in self.of(tool):
            meter.take(tool, run, now, -back)
            if usage["attempts"]:
                meter.use(tool, run, usage)


# ---- random sections, calls and steps ----
TEXTS = ["/etc/passwd", "/srv/a", "/srv/b/c", "rm -rf /", "hello", "", "ab", "äöü€", "a\nb", "x*y", "10.0.0.1"]
GLOBS = ["*", "/etc/*", "/srv/?", "/srv/*", "*rm*", "?", "??", "a*b", "ä??€", "x*", "*.?", "hello", "*/", "22", "-5", "*\"n\":22*"]
REGEXES = ["^/etc/", "rm\\s+-rf", "^a.b$", "[0-9]+\\.[0-9]", "^$", "ü", "(a|b)+", "^hello$", "\\[1,", "true|null", "^22$", "\"er\":.*\"n\":",
           "^\\{\"n\".*\"path\"", "^[0-9]+$"]
POINTERS = ["", "/path", "/a~1b", "/list/0", "/list/1/path", "/n", "/deep/er", "/m~0n", "/list/01", "/list/-"]
CONDITIONS = {"timeout_s": (True, [1.0, 30.0, 60.5]), "memory": (True, [1024, 65536]), "pids": (True, [5, 64]),
              "network": (False, ["none", "host", "net-a"]), "docker_image": (False, ["img:1", "img:2", "other"]),
              "mode": (False, ["local", "docker"]), "env_allowlist": (False, ["A", "AB", "SECRET"]),
              "env": (False, ["A", "TOKEN"]), "tmpfs_noexec": (None, [True, False])}


def maybe(r, chance=0.5):
    return r.random() < chance


def some(r, items, most=3):
    return r.sample(items, r.randint(1, min(most, len(items))))


def random_condition(r, name):
    number, values = CONDITIONS[name]
    if maybe(r, 0.1):
        return None
    if number is True and maybe(r, 0.8):
        return {r.choice(["above", "below"]): r.choice(values)}
    if number is False and maybe(r):
        return {"glob": r.choice(["*", "n*", "img:?", "A*", "*E*", "local"])}
    return r.choice(values)


def random_rule(r, literal_tools):
    rule = {"then": r.choice(["allow", "confirm", "deny"])}
    if maybe(r):
        rule["name"] = f"rule-{r.randint(0, 99)}"
    if maybe(r):
        rule["tool"] = some(r, ["key*", "*", "b???", "j*", "nothing*"] + (TOOLS if literal_tools else []))
    if maybe(r, 0.3):
        rule["danger"] = some(r, DANGERS, 2)
    if maybe(r, 0.2):
        rule["mode"] = some(r, ["local", "docker", "l*", "*"], 2)
    if maybe(r, 0.2):
        rule["skill"] = some(r, ["/srv/*", "*", "/opt/?"], 2)
    if maybe(r, 0.4):
        rule["plan"] = {name: random_condition(r, name) for name in some(r, sorted(CONDITIONS), 2)}
    if maybe(r, 0.5):
        rule["args"] = [{"at": r.choice(POINTERS), **({"glob": r.choice(GLOBS)} if maybe(r) else
                                                      {"regex": r.choice(REGEXES)})} for _ in range(r.randint(1, 2))]
    return rule


def random_section(r, is_policy):
    section = {}
    if maybe(r, 0.7):
        section["profile"] = r.choice(["dev", "standard", "strict"])
    if maybe(r, 0.9):
        section["rules"] = [random_rule(r, True) for _ in range(r.randint(0, 6))]
    if maybe(r, 0.4):
        section["rates"] = [{"calls": r.choice([1, 2, 3, 7]), "per": r.choice([1.0, 0.3, 10.0]),
                             "key": r.choice(["rule", "tool", "run"])} for _ in range(r.randint(1, 2))]
    if maybe(r, 0.4):
        section["budgets"] = [{"per": r.choice(["run", "process"]), **{k: v for k, v in (
            ("calls", r.choice([1, 2, 5])), ("wall_s", r.choice([0.5, 3.0])), ("cpu_s", r.choice([0.25, 1.0])),
            ("output", r.choice([10, 1000]))) if k == "calls" or maybe(r, 0.4)}} for _ in range(r.randint(1, 2))]
    for item in section.get("rates", []) + section.get("budgets", []):
        if maybe(r):
            item["tool"] = some(r, ["key*", "*", "b*"], 2)
        if maybe(r):
            item["name"] = f"count-{r.randint(0, 99)}"
        if "key" in item and maybe(r):
            item["burst"] = r.choice([1, 2, 9])
    if is_policy and not section:
        section["profile"] = "dev"
    return section


def as_yaml(section, file):
    """One item a line, and every item learns its line. JSON is YAML, too."""
    lines = ["guard:"]
    if "profile" in section:
        lines.append(f"  profile: {section['profile']}")
        section["profile_source"] = f"{file}:{len(lines)}"
    for kind in ("rules", "rates", "budgets"):
        if kind in section:
            lines.append(f"  {kind}:" + ("" if section[kind] else " []"))
        for item in section.get(kind, []):
            lines.append("    - " + json.dumps(item))
            item["source"] = f"{file}:{len(lines)}"
    return "\n".join(lines if len(lines) > 1 else ["guard: {}"]) + "\n"


def random_value(r, depth=0):
    kind = r.randint(0, 7 if depth < 2 else 4)
    if kind <= 2:
        return r.choice(TEXTS)
    if kind == 3:
        return r.choice([None, True, False])
    if kind == 4:
        return r.choice([0, 1, -5, 0.1, 1e16, 1.5, 2**40, 1e-7, 22, 22.0, 2.2e1, -5.0, -0.0, 1.0, 2.0**53, -2.0**53, 2.0**54])
    if kind <= 6:
        return [random_value(r, depth + 1) for _ in range(r.randint(0, 3))]
    return {key: random_value(r, depth + 1) for key in some(r, ["path", "er", "n", "Z", "ü"])}  # in any order


def random_call(r):
    call = {"tool": r.choice(TOOLS), "danger": r.randint(1, 3), "flags": r.choice([0, 1, 4, 5]),
            "mode": r.choice(["local", "docker"]), "plan": {}}
    for name, (_, values) in CONDITIONS.items():
        if maybe(r, 0.6):
            call["plan"][name] = (some(r, values) if name == "env_allowlist" else
                                  {key: "v" for key in some(r, values)} if name == "env" else r.choice(values))
    if maybe(r, 0.9):
        call["args"] = {key: random_value(r) for key in some(r, ["path", "a/b", "list", "n", "deep", "m~n"], 4)}
    if maybe(r):
        call["run_id"] = r.choice(["run-1", "run-2", "ü"])
    if maybe(r, 0.3):
        call["skill"] = r.choice(["/srv/one", "/opt/x"])
    if maybe(r, 0.05):
        call["over_max"] = "timeout_s: 5 is above the maximum 3"
    if maybe(r, 0.1):
        call["explain"] = True
    return call


def random_steps(r, count):
    steps, now = [], r.randint(1, 10**15)
    for _ in range(count):
        now += r.choice([0, 1, r.randint(0, SECOND // 3), r.randint(0, 12 * SECOND)])
        what, ticket = r.random(), r.randint(0, 2)
        if what < 0.6:
            steps.append({"at": now, "do": "decide", "ticket": ticket, "call": random_call(r)})
        elif what < 0.75:
            steps.append({"at": now, "do": "again", "ticket": ticket})
        else:
            steps.append({"at": now, "do": "settle", "ticket": ticket, "usage": {
                "attempts": r.randint(0, 2), "wall_s": r.choice([0.0, 0.1, 0.5, 2.75]),
                "cpu_s": r.choice([0.0, 0.125, 1.0]), "output": r.choice([0, 9, 500])}})
    return steps


# ---- both are asked ----
class Case:
    def __init__(self, r, etc):
        self.own, self.policy = random_section(r, False), random_section(r, True) if maybe(r) else {}
        self.yaml = as_yaml(self.own, "jianmu.yaml")
        self.policy_text = as_yaml(self.policy, f"{etc}/jianmu/policy.yaml") if self.policy else None
        self.steps = random_steps(r, r.choice([1, 2, 3, 12]))
        # a ticket that was not settled is not used for another call
        open_tickets = set()
        for step in self.steps:
            if step["do"] == "decide" and step["ticket"] in open_tickets:
                step.update({"do": "settle", "usage": {"attempts": 1, "wall_s": 0.25, "cpu_s": 0.0, "output": 1}})
            if step["do"] == "decide" and not step["call"].get("explain"):
                open_tickets.add(step["ticket"])
            if step["do"] == "settle":
                open_tickets.discard(step["ticket"])

    def line(self):
        return json.dumps({"yaml": self.yaml, "policy": self.policy_text, "steps": self.steps}) + "\n"

    def expected(self):
        judge, answers = Evaluator(self.own, self.policy), []
        for step in self.steps:
            now, ticket = step["at"], step["ticket"]
            if step["do"] == "decide":
                answers.append(judge.decide(step["call"], now, ticket))
            elif step["do"] == "again":
                answers.append(judge.again(ticket, now))
            else:
                judge.settle(ticket, step["usage"], now)
                answers.append(None)
        return answers


def agree(step, want, got):
    if step["do"] == "settle":
        return True
    if step["do"] == "again":
        return want is None or want == got
    return (want[0], want[1], want[2], want[3]) == (got["verdict"], got["code"], got["rule"], got["source"]) \
        and got["retry"] == want[4] / 1e9 and (got["message"] == "") == (want[0] == ALLOW)


def run(where, count):
    r = random.Random(SEED)
    cases = [Case(r, f"{where}/etc") for _ in range(count)]
    done = subprocess.run([os.path.join(BUILD, "tests/guard/evaluate"), where, f"{where}/etc"], text=True,
                          input="".join(case.line() for case in cases), capture_output=True, encoding="utf-8")
    answers = done.stdout.splitlines()
    if done.returncode or len(answers) != count:
        return [f"it ended with {done.returncode} after {len(answers)} sets: {done.stderr}"], {}
    wrong, seen = [], {}
    for case, answer in zip(cases, answers):
        for step, want, got in zip(case.steps, case.expected(), json.loads(answer)):
            if isinstance(want, tuple):
                seen[want[:2]] = seen.get(want[:2], 0) + 1
            if not agree(step, want, got):
                wrong.append(json.dumps({"yaml": case.yaml, "policy": case.policy_text, "steps": case.steps, "at": step,
                                         "want": want, "got": got}))
                break
    return wrong, seen


def main():
    where = tempfile.mkdtemp(prefix="jianmu-guard-")
    try:
        os.umask(0o022)
        os.chmod(where, 0o755)
        for sub in ("backends", "tools", "guards", "etc/jianmu"):
            os.makedirs(os.path.join(where, sub), 0o755)
        for source, name in (("tests/settings/.libs/noted_tools.so", "tools/noted.so"),
                             ("tests/settings/.libs/noted_local.so", "backends/local.so"),
                             ("guards/policy/.libs/policy.so", "guards/policy.so")):
            shutil.copyfile(os.path.join(BUILD, source), os.path.join(where, name))
            os.chmod(os.path.join(where, name), 0o755)
        print(f"# seed {SEED}, {SETS} rule sets")
        wrong, seen = run(where, SETS)
    finally:
        shutil.rmtree(where)
    for line in wrong[:3]:
        print("#", line[:6000])
    print(f"{'not ok' if wrong else 'ok'} 1 - guard and evaluator agree on {SETS} rule sets")
    print("#", {f"{verdict}/{code}": count for (verdict, code), count in sorted(seen.items())})
    rare = min((seen.get(kind, 0) for kind in ((ALLOW, 0), (CONFIRM, 0), (DENY, DENIED), (DENY, LIMITED), (DENY, SPENT))),
               default=0)
    enough = rare >= SETS // 100
    print(f"{'ok' if enough else 'not ok'} 2 - every kind of answer came often enough")
    print("1..2")
    return 1 if wrong or not enough else 0


sys.exit(main())
