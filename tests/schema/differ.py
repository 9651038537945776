# SPDX-License-Identifier: Apache-2.0
"""Random schemas and values: every verdict is that of python3-jsonschema. JIANMU_SEED repeats a run, JIANMU_ROUNDS
makes it longer. What python3-jsonschema does otherwise by design (floats in multipleOf, its own regular expressions,
arrays of items in 2020-12) is not made."""
import json
import os
import random
import subprocess
import sys
import warnings

try:
    import jsonschema
except ImportError:
    print("1..0 # SKIP python3-jsonschema is not installed")
    sys.exit(0)
warnings.simplefilter("ignore")
SEED = int(os.environ.get("JIANMU_SEED") or random.SystemRandom().randrange(1 << 32))
ROUNDS = int(os.environ.get("JIANMU_ROUNDS") or 2500)
R = random.Random(SEED)
NAMES = ["a", "b", "ab", "c d", "ä", "/~", ""]
TYPES = ["null", "boolean", "object", "array", "string", "number", "integer"]
PATTERNS = ["^a", "b$", "^[a-z]{1,2}$", "x", "ä", "^$", "a|b"]
SCALARS = [None, True, False, 0, 1, 1.0, -1, 2, 2.5, 3, 10, 1e3, -0.5, 0.0, 9007199254740993, 4.0, "", "a", "ab", "abc",
           "bä", "ä", "x", "\U0001f600", "1"]


def value(depth=0):
    pick = R.random()
    if depth > 2 or pick < 0.55:
        return R.choice(SCALARS)
    if pick < 0.75:
        items = [value(depth + 1) for _ in range(R.randrange(4))]
        return items + [R.choice(items)] if items and R.random() < 0.3 else items
    return {R.choice(NAMES): value(depth + 1) for _ in range(R.randrange(4))}


def some(make, least=1, most=3):
    return [make() for _ in range(R.randint(least, most))]


def keyword(draft, depth, out):
    def sub():
        return schema(draft, depth + 1)

    def named(make):
        return {R.choice(NAMES): make() for _ in range(R.randrange(1, 4))}
    simple = {
        "type": lambda: R.choice(TYPES) if R.random() < 0.7 else sorted(set(some(lambda: R.choice(TYPES)))),
        "enum": lambda: some(value, 1, 4), "const": value,
        "minimum": lambda: R.choice([-1, 0, 1, 1.5, 2]), "maximum": lambda: R.choice([0, 1, 2.5, 3, 1e3]),
        "exclusiveMinimum": lambda: R.choice([-1, 0, 1, 2.5]), "exclusiveMaximum": lambda: R.choice([1, 2, 2.5, 10]),
        "multipleOf": lambda: R.choice([1, 2, 3, 0.5]),
        "minLength": lambda: R.randrange(4), "maxLength": lambda: R.choice([0, 1, 2, 3, 2.0]),
        "pattern": lambda: R.choice(PATTERNS),
        "minItems": lambda: R.randrange(4), "maxItems": lambda: R.randrange(4), "uniqueItems": lambda: R.random() < 0.8,
        "minProperties": lambda: R.randrange(3), "maxProperties": lambda: R.randrange(3),
        "required": lambda: sorted(set(some(lambda: R.choice(NAMES)))),
    }
    deep = {
        "properties": lambda: named(sub), "additionalProperties": sub,
        "patternProperties": lambda: {R.choice(PATTERNS): sub() for _ in range(R.randrange(1, 3))},
        "propertyNames": sub, "items": sub, "contains": sub, "not": sub,
        "allOf": lambda: some(sub), "anyOf": lambda: some(sub), "oneOf": lambda: some(sub), "if": sub, "then": sub,
        "else": sub, "$ref": lambda: R.choice(["#/$defs/one", "#/$defs/two", "#two", "#"]),
    }
    if draft == 7:
        deep["dependencies"] = lambda: named(lambda: sub() if R.random() < 0.5 else ["a"])
        deep["items"] = lambda: sub() if R.random() < 0.5 else some(sub)
        deep["additionalItems"] = sub
        deep["$ref"] = lambda: R.choice(["#/definitions/one", "#/definitions/two", "#"])
    else:
        simple["dependentRequired"] = lambda: named(lambda: ["a"])
        simple["minContains"] = lambda: R.randrange(3)
        simple["maxContains"] = lambda: R.randrange(3)
        deep["prefixItems"] = lambda: some(sub)
        deep["dependentSchemas"] = lambda: named(sub)
    pool = simple if depth > 3 or R.random() < 0.5 else simple | deep
    name = R.choice(sorted(pool))
    out[name] = pool[name]()


def schema(draft, depth=0):
    if depth and R.random() < 0.12:
        return R.random() < 0.6
    out = {}
    for _ in range(R.randrange(1, 5)):
        keyword(draft, depth, out)
    if not depth and draft == 7:
        out["$schema"] = "http://json-schema.org/draft-07/schema#"
        out["definitions"] = {"one": schema(draft, 2), "two": schema(draft, 2)}
    elif not depth:
        out["$defs"] = {"one": schema(draft, 2), "two": schema(draft, 2)}
        if isinstance(out["$defs"]["two"], dict):
            out["$defs"]["two"]["$anchor"] = "two"
    return out


def oracle(draft, made, values):
    """Verdicts, or None where python3-jsonschema ends in no verdict."""
    checker = (jsonschema.Draft7Validator if draft == 7 else jsonschema.Draft202012Validator)(made)
    try:
        return [int(checker.is_valid(v)) for v in values]
    except (RecursionError, TypeError, jsonschema.exceptions.RefResolutionError):
        return None


def main():
    sys.setrecursionlimit(600)
    judge = subprocess.Popen([os.path.join(os.environ["JIANMU_BUILD"], "tests/schema/judge")], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    compared = invalid = refused = 0
    wrong = []
    for _ in range(ROUNDS):
        draft = R.choice([7, 2020])
        made, values = schema(draft), [value() for _ in range(8)]
        judge.stdin.write(json.dumps({"schema": made, "values": values}) + "\n")
        judge.stdin.flush()
        answer = json.loads(judge.stdout.readline())
        if "error" in answer and ("without end" in answer["error"] or "no such subschema" in answer["error"]):
            refused += 1  # a loop, which python3-jsonschema may never come upon, or the anchor of true or false
            continue
        want = oracle(draft, made, values)
        if want is None:
            continue
        if answer.get("verdicts") != want:
            wrong.append(json.dumps({"schema": made, "values": values, "is": answer, "not": want}))
        compared += len(values)
        invalid += want.count(0)
        for verdict, said in zip(answer.get("verdicts", []), answer.get("complaints", [])):
            if (verdict == 0) != bool(said) or (said and len(said) > 5):
                wrong.append(f"complaints {said} for the verdict {verdict}")
    judge.stdin.close()
    good = not wrong and judge.wait() == 0
    print(f"# seed {SEED}, {compared} verdicts compared, {invalid} of them bad values, {refused} schemas refused")
    for text in wrong[:5]:
        print("# " + text[:1500])
    print(f"{'ok' if good else 'not ok'} 1 - all verdicts agree")
    enough = compared > ROUNDS * 4 and invalid > compared / 5 and invalid < compared * 0.95
    print(f"{'ok' if enough else 'not ok'} 2 - good values and bad ones were both made\n1..2")
    return not (good and enough)


sys.exit(main())
