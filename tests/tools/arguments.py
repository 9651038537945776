# SPDX-License-Identifier: Apache-2.0
# Every tool: arguments that are missing, unknown or of another type are the error invalid, and the sentence names them.
import sys
sys.dont_write_bytecode = True
from harness import *

required = {"run_python": {"code": "x"}, "run_shell": {"command": "x"}, "read_file": {"path": "x"},
            "write_file": {"path": "x", "content": "x"}, "list_dir": {}, "http_request": {"url": "http://x/"}}
others = {"run_python": {}, "run_shell": {"cwd": "x"}, "read_file": {"offset": 1, "limit": 1},
          "write_file": {"append": True},
          "list_dir": {"path": "x"}, "http_request": {"method": "GET", "headers": {}, "body": "x"}}
text = {"code", "command", "path", "cwd", "url", "method"}
kinds = {"an integer": 5, "a fraction": 0.5, "a string": "s", "a boolean": True, "null": None, "an array": [],
         "an object": {}}
wanted = {str: ("a string", "a string"), bool: ("a boolean", "a boolean"), int: ("an integer", "an integer"),
          dict: ("an object", "an object")}

for tool, good in required.items():
    if not has_tool(tool):
        skip(tool, "it was left out of this build")
        continue
    for name in good:
        args = {k: v for k, v in good.items() if k != name}
        equal(f"{tool} without {name}", invalid(tool, args), f"argument '{name}' is missing")
    everything = {**good, **others[tool]}
    known = ", ".join(everything)
    equal(f"{tool} with an argument nobody knows", invalid(tool, {**everything, "timeout": 100}),
          f"unknown argument 'timeout'; known are {known}")
    for name, right in everything.items():
        want, own = wanted[type(right)]
        for kind, wrong in kinds.items():
            if kind != own:
                equal(f"{tool} with {name} as {kind}", invalid(tool, {**everything, name: wrong}),
                      f"argument '{name}' must be {want}, not {kind}")
        if name in text:
            equal(f"{tool} with a NUL in {name}", invalid(tool, {**everything, name: "a\0b"}),
                  f"argument '{name}' must not hold a NUL character")
        if isinstance(right, int) and not isinstance(right, bool):
            equal(f"{tool} with a negative {name}", invalid(tool, {**everything, name: -1}),
                  f"argument '{name}' must not be negative: -1")

if has_tool("http_request"):
    def header(name, text):
        return invalid("http_request", {"url": "http://x/", "headers": {name: text}})

    for bad in ("a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "\x7f"):
        equal(f"http_request with {bad!r} in a header", header("X-A", bad),
              "argument 'headers': the value of 'X-A' holds a line break or another control character")
    for bad in ("", "a b", "a:b", "X\r\nY", "h\u00e4"):
        equal(f"http_request with the header name {bad!r}", header(bad, "x"),
              f"argument 'headers': '{bad}' is no header name")
    for bad in ("Host", "content-length", "Transfer-Encoding", "Connection", "Proxy-Authorization"):
        equal(f"http_request with the header {bad}", header(bad, "x"), f"argument 'headers': '{bad}' cannot be set")
    equal("http_request with a header that is no string", header("X-A", 5),
          "argument 'headers': the value of 'X-A' must be a string")
    like("http_request with an unknown method", invalid("http_request", {"url": "http://x/", "method": "CONNECT"}),
         "argument 'method' is 'CONNECT'; it may be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS")
done()
