# SPDX-License-Identifier: Apache-2.0
# str.strip(), str.splitlines() and the count of replaced characters, against Python's own.
import sys
sys.dont_write_bytecode = True
import random
from harness import *

spaces = [chr(c) for c in range(1, 0x110000) if not 0xd800 <= c < 0xe000 and chr(c).isspace()]
near = [chr(c) for c in (0x1, 0x8, 0xe, 0x1b, 0x21, 0x84, 0x86, 0x9f, 0xa1, 0x167f, 0x1681, 0x1fff, 0x200b, 0x2027,
                         0x202a, 0x202e, 0x2030, 0x205e, 0x2060, 0x2fff, 0x3001, 0xfeff, 0x12028, 0xe9, 0x4e2d,
                         0x1f600)]
odd = b"\x41\x80\xbf\xc2\xc1\xe0\xa0\xed\x9f\xf0\x90\xf4\x8f\xff\xe2\x20"
random.seed(1)
texts = [a + "x" + b for a in spaces + near for b in spaces + near]
mixed = spaces + near + ["a", "\r\n"]
texts += ["".join(random.choice(mixed) for _ in range(random.randrange(9))) for _ in range(5000)]
parts = [text.encode() for text in texts]
parts += [bytes(random.choice(odd) for _ in range(random.randrange(1, 9))) for _ in range(20000)]
parts = [p for p in parts if p]
ran = subprocess.run([os.path.join(build, "tests/tools/text")], input=b"".join(p + b"\0" for p in parts),
                     stdout=subprocess.PIPE)
got = ran.stdout.split(b"\0")[:-1]
stripped, last, counts = got[0::3], got[1::3], got[2::3]
valid = len([p for p in parts if p.decode(errors="replace").encode() == p])


def wrong(have, want):
    return [(p, h, w) for p, h, w in zip(parts, have, want) if w is not None and h != w][:5]


def texts_of(function):
    return [function(p.decode()).encode() if p.decode(errors="replace").encode() == p else None for p in parts]


ok("all were answered", len(counts) == len(parts) and valid > 5000, (len(counts), len(parts), valid))
equal("strip", wrong(stripped, texts_of(str.strip)), [])
equal("the last line", wrong(last, texts_of(lambda t: (t.strip().splitlines() or [""])[-1])), [])
equal("characters, bad ones as they are replaced",
      wrong(counts, [str(len(p.decode(errors="replace"))).encode() for p in parts]), [])
done()
