# SPDX-License-Identifier: Apache-2.0
# read_file, write_file, list_dir: what they answer, and that nothing outside is reached.
import sys
sys.dont_write_bytecode = True
import os
import stat
import threading
from harness import *

top = os.path.join(tmp, "files")
work, skill, outside = (os.path.join(top, name) for name in ("work", "the-skill", "outside"))
for path in (work, skill, outside, work + "/sub/deep", work + "/skill"):
    os.makedirs(path)


def put(path, data):
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def got(path):
    with open(path, "rb") as f:
        return f.read().decode()


put(outside + "/secret", "hunter2")
put(work + "/a.txt", "alpha\n")
put(work + "/sub/b.txt", "beta")
put(work + "/skill/own.txt", "of the workspace")
put(skill + "/s.txt", "of the skill")
ro, rw = {"workspace": work}, {"workspace": work + ":rw"}
both = {"workspace": work + ":rw", "skill": skill}


def read(path, constraints=ro, **more):
    return value("read_file", {"path": path, **more}, constraints)


# ---- reading ----
equal("a whole file", read("a.txt"), {"content": "alpha\n", "offset": 0, "size": 6})
equal("a part says where the next one starts", read("a.txt", offset=1, limit=2),
      {"content": "lp", "offset": 1, "size": 6, "next_offset": 3})
equal("behind the end there is nothing", read("a.txt", offset=99), {"content": "", "offset": 99, "size": 6})
equal("/workspace is the workspace", read("/workspace/sub/b.txt")["content"], "beta")
equal("odd ways to say a path", read("sub/..//./sub/b.txt")["content"], "beta")
equal("skill/ is the skill", read("skill/s.txt", both)["content"], "of the skill")
equal("/skill/ is the skill", read("/skill/s.txt", both)["content"], "of the skill")
equal("./skill is the workspace's own", read("./skill/own.txt", both)["content"], "of the workspace")
equal("without a skill, skill/ is the workspace's own", read("skill/own.txt")["content"], "of the workspace")
equal("without a workspace, the skill is read", read("s.txt", {"skill": skill})["content"], "of the skill")

text = "".join(chr(c) for c in (0x41, 0xe9, 0x4e2d, 0x1f600)) * 50
put(work + "/wide.txt", text)
parts, offset = [], 0
while offset is not None and len(parts) < 200:
    part = value("read_file", {"path": "wide.txt", "offset": offset}, ro, {"max_output": 7})
    parts.append(part["content"])
    offset = part.get("next_offset")
equal("parts of max_output characters join to the whole", "".join(parts), text)
ok("no part is longer than max_output", max(map(len, parts)) <= 7 and len(parts) > 20, [len(p) for p in parts])

put(work + "/latin1", b"caf\xe9 \xff\xfe\x80 ol\xe9")
equal("bytes that are no UTF-8 are replaced", read("latin1")["content"], "caf\ufffd \ufffd\ufffd\ufffd ol\ufffd")
put(work + "/binary", b"\x7fELF\0\0\1")
like("a binary file is refused", error("read_file", {"path": "binary"}, ro), r"^'binary' is a binary file of 7 bytes")
with open(work + "/sparse", "wb") as f:
    f.truncate(1 << 40)
like("a sparse terabyte is no trouble", error("read_file", {"path": "sparse"}, ro), "binary file of 1099511627776")
like("a missing file", error("read_file", {"path": "none"}, ro), "^'none': No such file or directory$")
like("a directory", error("read_file", {"path": "sub"}, ro), "'sub' is a directory, not a regular file")
os.mkfifo(work + "/fifo")
like("a FIFO without writer", error("read_file", {"path": "fifo"}, ro), "'fifo' is a fifo, not a regular file")
like("a file as a directory", error("read_file", {"path": "a.txt/"}, ro), "Not a directory")
like("no workspace at all", error("read_file", {"path": "a.txt"}), "no workspace was given.*--workspace DIR")

# ---- the way out ----
os.symlink("sub/b.txt", work + "/inside")
os.symlink("../outside/secret", work + "/out")
os.symlink(outside, work + "/out-dir")
os.symlink(outside + "/secret", work + "/absolute")
os.symlink("/proc/self/environ", work + "/magic")
os.symlink("loop", work + "/loop")
os.symlink("../../a.txt", work + "/sub/deep/up")
equal("a link that stays inside is followed", read("inside")["content"], "beta")
equal("so is one that goes up inside", read("sub/deep/up")["content"], "alpha\n")
for path in ("../outside/secret", "sub/../../outside/secret", "out", "out-dir/secret", "absolute", "magic", "..",
             "/workspace/../outside/secret"):
    like(f"{path} leads out", error("read_file", {"path": path}, ro), "leads out of the directory it must stay in")
like("an absolute path", error("read_file", {"path": outside + "/secret"}, ro), "is absolute: only paths relative to")
like("/workspacex is no workspace", error("read_file", {"path": "/workspacex"}, ro), "is absolute")
like("a loop of links", error("read_file", {"path": "loop"}, ro), "Too many levels of symbolic links")

# ---- listing ----
listed = os.path.join(work, "listed")
os.makedirs(listed + "/d")
put(listed + "/b", "12345")
put(listed + "/B", "")
put(os.fsencode(listed) + b"/\xff\xfe", "x")
os.symlink("/etc/passwd", listed + "/link")
os.mkfifo(listed + "/fifo")
equal("a directory, sorted by bytes", value("list_dir", {"path": "listed"}, ro), {"dropped": 0, "entries": [
    {"name": "B", "type": "file", "size": 0}, {"name": "b", "type": "file", "size": 5},
    {"name": "d", "type": "directory"}, {"name": "fifo", "type": "fifo"}, {"name": "link", "type": "link"},
    {"name": "\ufffd\ufffd", "type": "file", "size": 1}]})
equal("max_entries", value("list_dir", {"path": "listed"}, ro, {"max_entries": 2})["dropped"], 4)
equal("max_output", value("list_dir", {"path": "listed"}, ro, {"max_output": 100})["dropped"], 4)
ok("the workspace by default", {"name": "listed", "type": "directory"} in value("list_dir", {}, ro)["entries"])
equal("the skill", value("list_dir", {"path": "skill"}, both)["entries"],
      [{"name": "s.txt", "type": "file", "size": 12}])
many = os.path.join(work, "many")
os.mkdir(many)
for i in range(3000):
    put(f"{many}/{i:05}", "")
answer = value("list_dir", {"path": "many"}, ro, {"max_output": 1000000})
equal("of many entries the first come", ([e["name"] for e in answer["entries"]], answer["dropped"]),
      ([f"{i:05}" for i in range(1000)], 2000))
like("a file is no directory", error("list_dir", {"path": "a.txt"}, ro), "Not a directory")
like("nothing outside is listed", error("list_dir", {"path": "out-dir"}, ro), "leads out")


# ---- writing ----
def write(path, content, constraints=rw, **more):
    return value("write_file", {"path": path, "content": content, **more}, constraints)


equal("a new file", (write("new.txt", "häl\0lo"), got(work + "/new.txt")), ({"bytes": 7, "size": 7}, "häl\0lo"))
equal("missing directories are made", (write("x/y/z/f", "1"), got(work + "/x/y/z/f")), ({"bytes": 1, "size": 1}, "1"))
os.chmod(work + "/new.txt", 0o640)
before = os.stat(work + "/new.txt").st_ino
write("new.txt", "second")
after = os.stat(work + "/new.txt")
equal("the mode is kept", stat.S_IMODE(after.st_mode), 0o640)
ok("an old file is replaced by another", after.st_ino != before)
equal("append", (write("new.txt", "+third", append=True), got(work + "/new.txt")),
      ({"bytes": 6, "size": 12}, "second+third"))
equal("append makes a file", (write("log/new", "l", append=True), got(work + "/log/new")),
      ({"bytes": 1, "size": 1}, "l"))
write("inside", "through the link")
equal("a link inside is written through", (os.path.islink(work + "/inside"), got(work + "/sub/b.txt")),
      (True, "through the link"))
os.symlink("dangling/target", work + "/to-come")
write("to-come", "made")
equal("so is one whose target is yet to come", got(work + "/dangling/target"), "made")
for path in ("out", "out-dir/secret", "out-dir/new", "absolute", "../outside/secret", "magic"):
    for append in (False, True):
        like(f"{path} is not written{', not appended to' if append else ''}",
             error("write_file", {"path": path, "content": "x", "append": append}, rw), "leads out")
equal("the file outside is as it was", (got(outside + "/secret"), os.listdir(outside)), ("hunter2", ["secret"]))
for path in ("sub", "sub/", ".", "", "fifo", "loop"):
    ok(f"'{path}' is no file to write", isinstance(error("write_file", {"path": path, "content": "x"}, rw), str))
like("a read-only workspace", error("write_file", {"path": "a.txt", "content": "x"}, ro),
     r"read-only .*--workspace DIR:rw")
like("the skill is read-only", error("write_file", {"path": "skill/s.txt", "content": "x"}, both), "read-only")
equal("neither was written", (got(work + "/a.txt"), got(skill + "/s.txt")), ("alpha\n", "of the skill"))
os.chmod(work + "/new.txt", 0o440)
plain = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
if plain and (not shutil.which("setpriv") or subprocess.run([*plain, "true"], stderr=subprocess.DEVNULL).returncode):
    skip("a file that may not be written is not replaced", "root may write everything, and cannot give that up here")
else:
    like("a file that may not be written is not replaced",
         error("write_file", {"path": "new.txt", "content": "x"}, rw, prefix=plain),
         "Permission denied")
ok("no temporary file is left", not [n for _, _, names in os.walk(work) for n in names if n.startswith(".jianmu-")])

# Readers of a file that is being replaced see all of one content or all of the other.
big = [c * 300000 for c in "ab"]
write("atomic", big[0])
torn, stop = [], threading.Event()


def look():
    while not stop.is_set():
        content = got(work + "/atomic")
        if content not in big:
            torn.append(len(content))


reader = threading.Thread(target=look)
reader.start()
value("write_file", {"path": "atomic", "content": big[1][:100000] * 3}, rw, times=20)
stop.set()
reader.join()
equal("a reader never sees half a file", torn, [])

# A write that fails in the middle: the old content stays, nothing is left beside it. First a limit on the size of
# files stops it, then a full disk.
cut = os.path.join(work, "cut")
os.mkdir(cut)
put(cut + "/f", "old")
limit = ["sh", "-c", 'trap "" XFSZ; ulimit -f 16; exec "$@"', "sh"]
for append in (False, True):
    like(f"a write that is cut short is said{' when appending' if append else ''}",
         error("write_file", {"path": "cut/f", "content": "x" * 100000, "append": append}, rw,
               prefix=limit), "File too large")
    equal("and changes nothing", (got(cut + "/f"), os.listdir(cut)), ("old", ["f"]))
prefix = namespaces()
full = os.path.join(top, "full")
os.mkdir(full)
script = f'''mount -t tmpfs -o size=64k none "{full}" && printf old > "{full}/f" && "$@" || exit
cat "{full}/f" > "{top}/after"; ls -A "{full}" >> "{top}/after"'''
for append in (False, True) if prefix else ():
    like(f"a full disk is said{' when appending' if append else ''}",
         error("write_file", {"path": "f", "content": "x" * 100000, "append": append}, {"workspace": full + ":rw"},
               prefix=[*prefix, "sh", "-c", script, "sh"]), "No space left on device")
    equal("and changes nothing", got(top + "/after"), "oldf\n")
if not prefix:
    skip("a full disk", "no mount namespace can be had here, or not as root")

for name, args in (("read_file", {"path": "a.txt"}), ("list_dir", {}),
                   ("write_file", {"path": "a.txt", "content": "alpha\n"})):
    equal(f"{name} leaks no descriptor", call(name, args, rw, times=50)["descriptors_grown"], 0)
done()
