# SPDX-License-Identifier: Apache-2.0
# http_request with addresses that count as public, which is only safe in a network of our own: names that lead to a
# private address as well, redirects from public to private, a name server that does not answer.
import sys
sys.dont_write_bytecode = True
import fcntl
import os
import socket
import struct
from harness import *
from server import *

PUBLIC, SECOND, DEAD = "93.184.216.34", "93.184.216.36", "93.184.216.99"


def set_up_network():
    """lo up, with two addresses that count as public; our own hosts, resolv.conf and nsswitch.conf."""
    def interface(request, name, payload):
        fcntl.ioctl(control, request, struct.pack("16s24s", name.encode(), payload))

    control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for name, address in (("lo:1", PUBLIC), ("lo:2", SECOND)):
        interface(0x8916, name, struct.pack("=HH4s", socket.AF_INET, 0, socket.inet_aton(address)))  # SIOCSIFADDR
        interface(0x891c, name, struct.pack("=HH4s", socket.AF_INET, 0, b"\xff" * 4))                # SIOCSIFNETMASK
    interface(0x8914, "lo", struct.pack("=H", 0x49))                                                  # SIOCSIFFLAGS: up
    files = {"hosts": f"127.0.0.1 localhost inner.test\n{PUBLIC} public.test\n{DEAD} both.test\n127.0.0.1 both.test\n"
                      f"{PUBLIC} live.test\n127.0.0.1 live.test\n",
             "resolv.conf": "nameserver 127.0.0.1\noptions timeout:10 attempts:2\n",
             "nsswitch.conf": "hosts: files dns\n"}
    for name, text in files.items():
        path = os.path.join(tmp, name)
        with open(path, "w") as f:
            f.write(text)
        subprocess.run(["mount", "--bind", path, "/etc/" + name], check=True)


if "inside" not in sys.argv:
    prefix = namespaces()
    if not has_tool("http_request"):
        skip_all("http_request was left out of this build")
    if not prefix:
        skip_all("no network and mount namespace can be had here, or not as root")
    if not all(os.path.exists("/etc/" + name) for name in ("hosts", "resolv.conf", "nsswitch.conf")):
        skip_all("/etc lacks hosts, resolv.conf or nsswitch.conf to mount over")
    sys.exit(subprocess.run([*prefix, sys.executable, __file__, "inside"]).returncode)

set_up_network()
private = Server(("127.0.0.1", 0))
public = Server((PUBLIC, private.port))
second = Server((SECOND, private.port))
port = private.port


def ask(url, **args):
    return call("http_request", {"url": url, **args}, {"timeout_s": 60})


def body(url, **args):
    result = ask(url, **args)
    return result["value"]["body"] if result.get("reason") == "exited" else result


def refused(url):
    result = ask(url)
    return result["message"] if result.get("reason") == "tool_failed" else result


equal("control: a public address is reached", body(f"http://{PUBLIC}:{port}/hello"), "h\u00e4llo\n")
equal("so is a public name", body(f"http://public.test:{port}/hello"), "h\u00e4llo\n")
equal("and a public address behind a redirect", body(f"http://{PUBLIC}:{port}/to?url=http://{SECOND}:{port}/hello"),
      "h\u00e4llo\n")
like("a private name is refused", refused(f"http://inner.test:{port}/"), "leads to 127.0.0.1, a loopback address")
like("a redirect to a private address is refused", refused(f"http://{PUBLIC}:{port}/to?url=http://127.0.0.1:{port}/"),
     "^'http://127.0.0.1:[0-9]+/' leads to 127.0.0.1, a loopback address")
like("a redirect to a private name is refused", refused(f"http://{PUBLIC}:{port}/to?url=http://inner.test:{port}/"),
     "leads to 127.0.0.1, a loopback address")
like("a name that leads to both is refused when the private one's turn comes",
     refused(f"http://both.test:{port}/hello"),
     "leads to 127.0.0.1, a loopback address")
result = ask(f"http://live.test:{port}/hello")
ok("a name that leads to both never reaches the private one",
   result["reason"] == "exited" or "leads to 127" in result["message"], result)
equal("the private server saw nothing", (private.connections, private.seen), (0, []))
opened = call("http_request", {"url": f"http://both.test:{port}/hello"}, {"timeout_s": 60}, {"allow_private": True})
equal("control: allowed, that name leads to it", (opened["reason"], private.connections), ("exited", 1))

silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
silent.bind(("127.0.0.1", 53))
start = time.monotonic()
result = call("http_request", {"url": "http://nowhere.example/"}, {"timeout_s": 1})
took = time.monotonic() - start
equal("a name server that does not answer: the deadline", (result["reason"], result["value"]),
      ("timeout", {"error": "timeout after 1.0s"}))
silent.settimeout(5)
ok("control: it was asked", b"nowhere" in silent.recv(512))
version = subprocess.run(["pkg-config", "--modversion", "libcurl"], stdout=subprocess.PIPE).stdout.decode().split(".")
if [int(n) for n in version[:2] if n.strip().isdigit()] >= [7, 87]:
    ok("in time", took < 9, took)
else:
    skip("in time", "libcurl before 7.87 waits for its resolver")
done()
