# SPDX-License-Identifier: Apache-2.0
# What a terminal is shown, and what is done there at all: escapes, colours, typed input.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1

cat >escapes.py <<'PY'
import os, sys
os.write(1, b"clip \x1b]52;c;cm0gLXJmIH4=\x07 title \x1b]0;owned\x1b\\ paste \x1b[201~ move \x1b[2J\x1b[H "
            b"answer \x1b[6n\x1b[c\x1bP$q\x1b\\ bell \x07 del \x7f nul \x00 c1 \xc2\x9b31m raw \x9b31m\n")
os.write(1, b"\x1b[1;31mred\x1b[0m tab\there\r\n")
os.write(1, "\u5efa\u6728 \u00e9\n".encode())
for part in (b"\x1b", b"[3", b"2", b"m", b"green", b"\x1b[m", b"\xe5", b"\xbb", b"\xba", b"\n",
             b"\x1b", b"]", b"x", b"\n", b"end \xe5\xbb"):
    os.write(1, part)
    sys.stdin.flush()
PY
on_terminal "" "$jianmu" job escapes.py
like "clipboard, title, paste and the like are spelled out" "$out" \
    'clip \\\\x1b\]52;c;cm0gLXJmIH4=\\\\x07 title \\\\x1b\]0;owned\\\\x1b\\\\ paste \\\\x1b\[201~ move \\\\x1b\[2J\\\\x1b\[H '
like "so are questions to the terminal" "$out" 'answer \\\\x1b\[6n\\\\x1b\[c\\\\x1bP\$q'
like "and single controls, also of the upper half" "$out" \
    'bell \\\\x07 del \\\\x7f nul \\\\x00 c1 \\\\xc2\\\\x9b31m raw \\\\x9b31m\\n'
like "colours, tab and return pass" "$out" '\\x1b\[1;31mred\\x1b\[0m tab\\there\\r\\n'
like "text of any script passes" "$out" '\\u5efa\\u6728 \\xe9\\n'
like "also where it comes in pieces" "$out" '\\x1b\[32mgreen\\x1b\[m\\u5efa\\n\\\\x1b\]x\\nend \\\\xe5\\\\xbb'
like "and the job ends well" "$out" "^0 "
is "what goes to a file is raw" "$("$jianmu" job escapes.py | sha256sum)" "$(python3 escapes.py </dev/null | sha256sum)"
on_terminal "" "$jianmu" run run_python --yes --args '{"code": "print(chr(27) + chr(93) + \"52;c;eA\" + chr(7) + \"x\")"}'
like "a tool's text is treated the same" "$out" '\\\\x1b\]52;c;eA\\\\x07x\\n'
bad=$'x\e]0;owned\a'
on_terminal "" "$jianmu" job "$bad"
like "a name in a message too" "$out" 'x\\\\x1b\]0;owned\\\\x07'

cat >ask.py <<'PY'
import os, sys
print("ready", flush=True)
print("got", sys.stdin.readline().strip(), "tty", os.isatty(0))
try:
    os.open("/dev/tty", os.O_RDWR)
    print("has a terminal")
except OSError:
    print("has none")
PY
on_terminal $'typed\n' "$jianmu" job ask.py
like "what is typed reaches the job, the terminal does not" "$out" 'got typed tty False'
like "and the job has no terminal of its own" "$out" 'has none'

export TERM=xterm
on_terminal "" "$jianmu" plugins
like "a list on a terminal has colours" "$out" '\\x1b\[32musable'
NO_COLOR=1 on_terminal "" "$jianmu" plugins
unlike "not with NO_COLOR" "$out" '\\x1b'
like "but the same words" "$out" 'usable'
NO_COLOR='' on_terminal "" "$jianmu" plugins
like "an empty NO_COLOR is none" "$out" '\\x1b\[32musable'
TERM=dumb on_terminal "" "$jianmu" plugins
unlike "not on a dumb terminal" "$out" '\\x1b'
cli plugins
unlike "not where standard output is no terminal" "$out" $'\e'
tap_done
