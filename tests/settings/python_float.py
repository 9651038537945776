# SPDX-License-Identifier: Apache-2.0
"""jm_print_seconds is repr(float), and jm_parse_real reads it back: all powers of two and ten, their neighbours,
and random doubles; again under a locale whose point is a comma and one whose point has two bytes."""
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.environ["JIANMU_BUILD"], "tests/settings/text_print")


def bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def values():
    some = {0, 1 << 63, bits(math.inf), bits(-math.inf)}
    for power in range(-1074, 1024):
        b = bits(math.ldexp(1.0, power))
        some |= {b, b + 1, max(b - 1, 0)}
    for power in range(-323, 309):
        b = bits(float(f"1e{power}"))
        some |= {b, b + 1, b - 1}
    seed = random.randrange(1 << 32)
    print(f"# seed {seed}")
    rng = random.Random(seed)
    for _ in range(6000):
        some.add(rng.getrandbits(64))
        some.add(bits(rng.uniform(0, 1000)))
        some.add(bits(round(rng.uniform(0, 100), rng.randrange(6))))
        some.add(bits(float(rng.randrange(10**17))))
    return [b for b in some if not math.isnan(struct.unpack("<d", struct.pack("<Q", b))[0])]


def run(args, numbers, env):
    text = "\n".join(f"{b:x}" for b in numbers)
    done = subprocess.run([PROGRAM, *args], input=text, capture_output=True, text=True, env=env, timeout=120)
    return done.returncode, done.stdout.split("\n"), done.stderr


def wrong(numbers, lines):
    for b, line in zip(numbers, lines):
        value = struct.unpack("<d", struct.pack("<Q", b))[0]
        want = f"{value!r} {0 if math.isinf(value) else 1}"
        if line != want:
            yield f"{b:016x}: got {line!r}, Python says {want!r}"


def locale_dir(where, name, source):
    made = subprocess.run(["localedef", "-i", source, "-f", "UTF-8", os.path.join(where, name)], capture_output=True)
    return os.path.isdir(os.path.join(where, name)) and made.returncode in (0, 1)


def main():
    numbers = values()
    print("1..3")
    status, lines, _ = run([], numbers, dict(os.environ))
    bad = list(wrong(numbers, lines))
    for line in bad[:10]:
        print("#", line)
    good = status == 0 and not bad and len(lines) == len(numbers) + 1
    print(f"{'ok' if good else 'not ok'} 1 - {len(numbers)} doubles as Python prints them")
    failed = not good
    where = tempfile.mkdtemp(prefix="jianmu-locale-")
    try:
        locales = (("de_DE.UTF-8", "de_DE", ","), ("ps_AF.UTF-8", "ps_AF", "\u066b"))
        for n, (name, source, point) in enumerate(locales, 2):
            title = f"the same where the decimal point is {point!a} ({name})"
            if not shutil.which("localedef") or not locale_dir(where, name, source):
                print(f"ok {n} - {title} # SKIP localedef or its sources are not here")
                continue
            env = dict(os.environ, LOCPATH=where)
            env.pop("LC_ALL", None)
            status, lines, err = run([name], numbers[:3000], env)
            bad = list(wrong(numbers[:3000], lines[1:]))
            good = status == 0 and lines[0] == point + " [0.25,1e-05,1.5]" and not bad
            for line in [err] * bool(err) + bad[:10]:
                print("#", line)
            print(f"{'ok' if good else 'not ok'} {n} - {title}")
            failed |= not good
    finally:
        shutil.rmtree(where)
    return failed


sys.exit(main())
