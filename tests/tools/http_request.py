# SPDX-License-Identifier: Apache-2.0
# http_request against a real server on loopback: what it answers, when it stops, where it does not go.
import sys
sys.dont_write_bytecode = True
import os
import urllib.request
from harness import *
from server import *

if not has_tool("http_request"):
    skip_all("http_request was left out of this build")
server = Server()
base = f"http://127.0.0.1:{server.port}"
open_ = {"allow_private": True}


def ask(path="/hello", constraints=None, settings=None, env=None, **args):
    url = base + path if path.startswith("/") else path
    return call("http_request", {"url": url, **args}, {"timeout_s": 60, **(constraints or {})},
                {**open_, **(settings or {})}, env=env)


def answer(*args, **keywords):
    result = ask(*args, **keywords)
    return result["value"] if result.get("reason") == "exited" else result


def refused(*args, **keywords):
    result = ask(*args, **keywords)
    good = result.get("reason") == "tool_failed" and result["value"] == {"error": result["message"]}
    return result["message"] if good else result


def echo(*args, **keywords):
    return json.loads(answer(*args, **keywords)["body"])


# ---- answers ----
got = answer()
equal("status, url, body", (got["status"], got["url"], got["body"], got["truncated"]),
      (200, base + "/hello", "h\u00e4llo\n", False))
equal("headers, those of one name joined", (got["headers"]["x-one"], got["headers"]["content-type"]),
      ("1, 2", "text/plain"))
equal("404 is an answer", (answer("/nowhere")["status"], answer("/nowhere")["body"]), (404, "nothing here"))
equal("GET is the default", echo("/echo")["method"], "GET")
equal("POST where there is a body", (echo("/echo", body="b\u00f6dy")["method"],
                                     echo("/echo", body="b\u00f6dy")["body"]), ("POST", "b\u00f6dy"))
equal("an empty body is a body", echo("/echo", body="")["method"], "POST")
for method in ("PUT", "PATCH", "DELETE"):
    told = echo("/echo", method=method, body="x")
    equal(f"{method} with a body", (told["method"], told["body"]), (method, "x"))
equal("OPTIONS and DELETE without", [echo("/echo", method=m)["method"] for m in ("OPTIONS", "delete")],
      ["OPTIONS", "DELETE"])
got = answer("/hello", method="HEAD")
equal("HEAD", (got["status"], got["body"], got["headers"]["content-length"]), (200, "", "7"))
told = echo("/echo", headers={"X-A": "1", "X-Empty": "", "Content-Type": "application/json"}, body="{}")["headers"]
equal("headers are sent", (told["x-a"], told["x-empty"], told["content-type"]), ("1", "", "application/json"))
told = echo("/echo", body="x")["headers"]
equal("what is sent unasked", sorted(told), ["accept", "content-length", "content-type", "host", "user-agent"])
like("the name of the agent", told["user-agent"], "^jianmu/")
equal("bytes that are no UTF-8 are replaced", answer("/bytes?hex=61ff00e4b862")["body"], "a\ufffd\0\ufffdb")
ok("headers beyond 64 KiB are left out", 20 < len(answer("/headers")["headers"]) < 90)
like("a body that breaks off", refused("/short"), "transfer closed with 90 bytes remaining")
like("nobody listens", refused("http://127.0.0.1:1/"), "Failed to connect|Couldn't connect|Could not connect")

# ---- sizes ----
got = answer("/endless", settings={"max_bytes": 100000}, constraints={"max_output": 1000000})
equal("max_bytes", (len(got["body"]), got["truncated"]), (100000, True))
ok("no more than that was asked for", server.sent < 50_000_000, server.sent)
got = answer("/endless", settings={"max_bytes": "2k"}, constraints={"max_output": 300})
equal("max_output", (len(got["body"]), got["body_dropped"], got["truncated"]), (300, 1748, True))
got = answer("/bytes?hex=" + "61" * 1000, settings={"max_bytes": 1000})
equal("a body of just max_bytes is whole", (len(got["body"]), got["truncated"]), (1000, False))

# ---- time ----
for path in ("/stall", "/drip"):
    start = time.monotonic()
    result = ask(path, {"timeout_s": 1})
    equal(f"{path}: the deadline", (result["reason"], result["value"]), ("timeout", {"error": "timeout after 1.0s"}))
    ok(f"{path}: in time", time.monotonic() - start < 20, time.monotonic() - start)
    start = time.monotonic()
    result = call("http_request", {"url": base + path}, {"timeout_s": 600}, open_, cancel_ms=500)
    equal(f"{path}: cancelled", (result["reason"], result["value"]), ("cancelled", {"error": "cancelled"}))
    ok(f"{path}: soon", time.monotonic() - start < 60, time.monotonic() - start)

# ---- redirects ----
got = answer("/count?n=5")
equal("five redirects", (got["body"], got["url"]), ("arrived", base + "/count?n=0"))
like("the sixth is too much", refused("/count?n=6"), "^more than 5 redirects, the last to '.*/count[?]n=0'$")
equal("max_redirects", answer("/count?n=6", settings={"max_redirects": 6})["body"], "arrived")
got = answer("/count?n=6", settings={"max_redirects": 0})
equal("max_redirects 0 answers the redirect", (got["status"], got["headers"]["location"]), (302, "/count?n=5"))
for status, method, want in ((301, "POST", ("GET", "")), (302, "POST", ("GET", "")), (303, "PUT", ("GET", "")),
                             (307, "POST", ("POST", "x")), (308, "PUT", ("PUT", "x")), (302, "PUT", ("PUT", "x"))):
    told = echo(f"/to?status={status}&url=/echo", method=method, body="x")
    equal(f"{status} after {method}", (told["method"], told["body"]), want)
for target in ("file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "dict://127.0.0.1/",
               "scp://127.0.0.1/x"):
    like(f"a redirect to {target}", refused(f"/to?url={target}"), f"^'{target}': only http and https")
    like(f"{target} itself", refused(target), f"^'{target}': only http and https")
like("user name and password", refused(f"http://user:pw@127.0.0.1:{server.port}/"),
     "must not hold a user name or password")
like("and in a redirect", refused(f"/to?url=http://user@127.0.0.1:{server.port}/"),
     "must not hold a user name or password")
for bad in ("http://", "http://a b/", "http://x\r\ny/", "no url", "", "://", "http://[::1/", "http://x:99999/",
            "http:///x"):
    ok(f"{bad!r} is no URL", isinstance(refused(bad), str), ask(bad))
secrets = {"Authorization": "Bearer hunter2", "Cookie": "a=hunter2", "X-Api-Key": "hunter2", "Accept": "text/x"}
told = echo("/to?url=/echo", headers=secrets)["headers"]
ok("to the same server all headers go", all(told.get(k.lower()) == v for k, v in secrets.items()), told)
other = Server()
for target in (f"http://localhost:{server.port}/echo", f"http://127.0.0.1:{other.port}/echo",
               f"http://127.0.0.1:{other.port}/to?url={base}/echo"):
    told = echo("/to?url=" + target, headers=secrets)["headers"]
    ok(f"to another none that may be secret: {target}", "hunter2" not in str(told) and told["accept"] == "text/x", told)

# ---- what the host has is not used ----
proxy = Server()
names = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
proxies = {name: f"http://127.0.0.1:{proxy.port}" for name in names}
environ = dict(os.environ)
os.environ.update(proxies, no_proxy="", NO_PROXY="")
try:
    urllib.request.urlopen(base + "/hello", timeout=20).read()
except OSError:
    pass
os.environ.clear()
os.environ.update(environ)
ok("control: the proxy variables work for others", proxy.connections == 1, proxy.seen)
equal("but are not used", (answer(env={**proxies, "no_proxy": "", "NO_PROXY": ""})["status"], proxy.connections),
      (200, 1))
home = os.path.join(tmp, "home")
os.mkdir(home)
with open(home + "/.netrc", "w") as f:
    f.write("machine 127.0.0.1 login me password hunter2\n")
os.chmod(home + "/.netrc", 0o600)
ok("nor is .netrc", "authorization" not in echo("/echo", env={"HOME": home})["headers"])

# ---- addresses ----
try:
    six = Server(("::1", server.port), socket.AF_INET6)
except OSError:
    six = None
local = ["127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "0", "2130706433", "0x7f000001",
         "017700000001", "127.1", "localhost", "127.0.0.1."]
if six:
    local += ["[::]", "[::1]", "[0:0:0:0:0:0:0:1]"]
else:
    skip("[::] and [::1]", "this machine has no IPv6")
reached = 0
for host in local:
    url = f"http://{host}:{server.port}/hello"
    result = ask(url)
    reached += result.get("reason") == "exited"
    before = server.connections + (six.connections if six else 0)
    result = ask(url, settings={"allow_private": False})
    sentence = (result.get("value") or {}).get("error", result)
    like(f"{host} is refused", sentence, "only public addresses may be reached|resolve host")
    equal(f"{host} is not connected to", server.connections + (six.connections if six else 0), before)
ok("control: with allow_private they lead there", reached >= len(local) - 2, f"{reached} of {len(local)}")
for host in ("10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255",
             "[fe80::1]",
             "[fd00::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[ff02::1]", "[::127.0.0.1]"):
    like(f"{host} is refused", refused(f"http://{host}/", settings={"allow_private": False}),
         "only public addresses may be reached")

equal("no descriptor is leaked", call("http_request", {"url": base + "/count?n=2"}, {"timeout_s": 60}, open_,
                                      times=20)["descriptors_grown"], 0)
done()
