# SPDX-License-Identifier: Apache-2.0
"""The sink otlp against a receiver made of the published protobuf definitions (opentelemetry/, v1.9.0): each line of its
file and each request it posts is parsed by them, unknown members refused."""
import base64
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

try:
    from google.protobuf import json_format
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    print("1..0 # SKIP no google.protobuf")
    sys.exit(0)
import kit
from kit import check, cli, fresh, python

proto = kit.path("pb")
os.mkdir(proto)
definitions = os.path.join(kit.SOURCE, "tests/event")
files = ["collector/trace/v1/trace_service", "common/v1/common", "resource/v1/resource", "trace/v1/trace"]
try:
    subprocess.run(["protoc", f"-I{definitions}", f"--python_out={proto}",
                    *(f"{definitions}/opentelemetry/proto/{f}.proto" for f in files)], check=True)
except FileNotFoundError:
    print("1..0 # SKIP no protoc")
    sys.exit(0)
sys.path.insert(0, proto)
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2  # noqa: E402


def receive(line):
    """What a receiver makes of it. Ids are hexadecimal in OTLP/JSON, the one thing in which it is not protobuf's JSON."""
    request = json.loads(line)
    for spans in request["resourceSpans"]:
        for scope in spans["scopeSpans"]:
            for span in scope["spans"]:
                for key, digits in (("traceId", 32), ("spanId", 16), ("parentSpanId", 16)):
                    if key in span:
                        assert re.fullmatch(f"[0-9a-f]{{{digits}}}", span[key]), span
                        span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    return json_format.ParseDict(request, trace_service_pb2.ExportTraceServiceRequest())


def value(v):
    return getattr(v, v.WhichOneof("value"))


def spans_of(requests):
    """Each span with its attributes as a dictionary."""
    return [(span, {a.key: value(a.value) for a in span.attributes}, {a.key: value(a.value) for a in r.resource.attributes})
            for request in requests for r in request.resource_spans for scope in r.scope_spans for span in scope.spans]


def from_file(name="spans"):
    return spans_of(receive(line) for line in kit.text(name).splitlines())


def one(name="spans"):
    found = from_file(name)
    assert len(found) == 1, found
    return found[0]


SPANS = {"otlp": {"file": kit.path("spans")}}

# ---- a call that succeeds
before = time.time_ns()
fresh("spans")
run = python("print(6 * 7)", events=SPANS)
span, attributes, resource = one()
check("the call is as ever", (run.returncode, run.stdout.strip()), (0, "42"))
check("the name of the span", span.name, "execute_tool run_python")
check("its kind and its status", (span.kind, span.status.code), (1, 1))
check("it is a root", (span.parent_span_id, span.flags), (b"", 1))
check("its times", before <= span.start_time_unix_nano < span.end_time_unix_nano <= time.time_ns())
check("its attributes", {k: v for k, v in attributes.items() if not k.startswith("jianmu.")},
      {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "run_python", "gen_ai.tool.type": "function"})
check("ours", {k: v for k, v in attributes.items() if k.startswith("jianmu.")},
      {"jianmu.backend": "local", "jianmu.reason": "exited", "jianmu.attempts": 1})
check("the resource", resource["service.name"], "jianmu")
check("the file is the owner's alone", oct(os.stat(kit.path("spans")).st_mode & 0o777), "0o600")

# ---- calls that do not
ENDS = [("a tool that fails", lambda: python("raise ValueError('no')", events=SPANS), "tool_error"),
        ("a timeout", lambda: python("while True: pass", "--timeout", "300ms", events=SPANS), "timeout"),
        ("arguments that are none", lambda: cli("run", "run_python", "--args", '{"code": 1}', events=SPANS), "invalid_arguments"),
        ("a limit that cannot be had", lambda: python("1", "--network", "none", events=SPANS), "backend_error")]
for name, call, kind in ENDS:
    fresh("spans")
    call()
    span, attributes, resource = one()
    check(f"{name}: status and error.type", (span.status.code, attributes.get("error.type")), (2, kind))
    check(f"{name}: it says why", bool(span.status.message))

# ---- trace context, in and out
show = "import os; print(os.environ.get('TRACEPARENT'), os.environ.get('TRACESTATE'))"
parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
fresh("spans")
out = python(show, events=SPANS, env={"TRACEPARENT": parent, "TRACESTATE": "a=b,c=d"}).stdout.split()
span, attributes, resource = one()
check("the span is a child of the environment's", (span.trace_id.hex(), span.parent_span_id.hex(), span.trace_state),
      (parent[3:35], parent[36:52], "a=b,c=d"))
check("a process of the call is told the call's span", out, [f"00-{span.trace_id.hex()}-{span.span_id.hex()}-01", "a=b,c=d"])
for bad in ("ff" + parent[2:], ""):
    fresh("spans")
    python("1", events=SPANS, env={"TRACEPARENT": bad})
    check(f"TRACEPARENT={bad!r} is as none", one()[0].parent_span_id, b"")
fresh("spans")
out = python(show, events=SPANS, env={"TRACEPARENT": parent[:-2] + "00"}).stdout.split()
check("what is not sampled is not recorded", from_file(), [])
check("and the process is told so", out[0][-3:], "-00")
check("without tracing nothing is passed on", python(show, env={"TRACEPARENT": parent}).stdout.split(), ["None", "None"])
fresh("lines")
python(show, events={"trace": True, "jsonl": {"file": kit.path("lines")}}, env={"TRACEPARENT": parent})
ids = {(e["trace_id"], e["span_id"], e["parent_span_id"]) for e in kit.lines("lines")}
check("events.trace: the ids stand in the lines", len(ids) == 1 and next(iter(ids))[::2] == (parent[3:35], parent[36:52]))

# ---- the environment's settings
fresh("spans")
python("1", events=SPANS, env={"OTEL_SERVICE_NAME": "mine", "OTEL_RESOURCE_ATTRIBUTES": "a.b=x%20y%2Cz, service.name=other,bad"})
check("names of the service and the resource", {k: v for k, v in one()[2].items() if k in ("service.name", "a.b")},
      {"service.name": "mine", "a.b": "x y,z"})
for name, word in (("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")):
    fresh("spans")
    python("1", events=SPANS, env={name: word})
    check(f"{name}={word}", kit.text("spans"), "")
check("an endpoint that is no address", "http://" in python("1", events={"otlp": {"endpoint": "ftp://x"}}).stderr)


# ---- HTTP
class Receiver(http.server.BaseHTTPRequestHandler):
    got, answers = [], []

    def do_POST(self):  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.got.append((self.path, self.headers, body))
        self.send_response(self.answers.pop(0) if self.answers else 200)
        self.end_headers()

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
plain = {"no_proxy": "*"}
built = "libcurl" not in python("1", events={"otlp": {"endpoint": url}}, env=plain).stderr
if built:
    Receiver.got.clear()
    run = python("1", events={"otlp": {"endpoint": url, "headers": {"X-Mine": "yes"}}},
                 env=plain | {"OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b,x-other=c"})
    where, headers, body = Receiver.got[0]
    check("a call is posted", (run.returncode, len(Receiver.got), where), (0, 1, "/v1/traces"))
    check("its headers", [headers[h] for h in ("content-type", "x-mine", "x-key", "x-other")],
          ["application/json", "yes", "a b", "c"])
    check("its body", spans_of([receive(body)])[0][0].name, "execute_tool run_python")
    for env, want in (({"OTEL_EXPORTER_OTLP_ENDPOINT": url + "/base"}, "/base/v1/traces"),
                      ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": url + "/as/it/is"}, "/as/it/is")):
        Receiver.got.clear()
        python("1", events={"use": ["otlp"]}, env=plain | env)
        check(f"{next(iter(env))}", [g[0] for g in Receiver.got], [want])
    Receiver.got.clear()
    fresh("spans")
    python("1", events={"otlp": {"endpoint": url, "file": kit.path("spans")}}, env=plain)
    check("both, a file and a server", (len(Receiver.got), len(from_file())), (1, 1))

    silent = socket.create_server(("127.0.0.1", 0), backlog=16)
    closed = socket.create_server(("127.0.0.1", 0))
    nowhere = closed.getsockname()[1]
    closed.close()
    for name, port in (("a server that never answers", silent.getsockname()[1]), ("no server", nowhere)):
        events = {"otlp": {"endpoint": f"http://127.0.0.1:{port}", "flush": "300ms"}}
        run = python("print('done')", events=events, env=plain)
        check(f"{name} fails no call", (run.returncode, run.stdout), (0, "done\n"))
else:
    kit.skip("HTTP", "built without libcurl")
kit.done()
