# SPDX-License-Identifier: Apache-2.0
# The resident half of python_repl. Questions are frames on standard input, answers frames on standard output, and
# what the code prints leaves by standard error: so it can be taken for no answer. Both channels move out of the way of the
# code, to high numbers.
def _drive():
    import __future__
    import ast
    import builtins
    import faulthandler
    import fcntl
    import io
    import linecache
    import os
    import resource
    import signal
    import struct
    import sys
    import traceback
    import types

    HEADER, MAGIC, QUESTION, ANSWER, EVENT = struct.Struct("<4sIQQ"), b"JMF0", 1, 2, 3
    SOURCES, FRAMES, TEXT = 256, 12, 6000  # sources that tracebacks can show; frames and characters of one
    pid, running, interrupted, calls, flags = os.getpid(), False, False, 0, 0
    futures = 0
    for name in __future__.all_feature_names:
        futures |= getattr(__future__, name).compiler_flag

    def high(fd):
        most = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1024)
        for at in range(most - 1, 2, -1):
            try:
                fcntl.fcntl(at, fcntl.F_GETFD)
            except OSError:
                return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, at)
        raise OSError("no descriptor is free")

    null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    questions, answers, output, nothing = high(0), high(1), high(2), high(null)
    os.close(null)
    channels = {0: nothing, 1: output, 2: output}
    sys.stderr = None  # the interpreter's own: ours is made below, as that of standard output is
    streams = [None, None, None]

    def on_interrupt(signum, frame):
        nonlocal interrupted
        if running and not interrupted:
            interrupted = True
            raise KeyboardInterrupt

    def after_fork():
        """A forked child has no part in the conversation."""
        for fd in (questions, answers):
            try:
                os.dup2(nothing, fd, inheritable=False)
            except OSError:
                pass

    def prepare():
        """What the code before may have closed or replaced."""
        for fd, kept in channels.items():
            os.dup2(kept, fd)
        for fd, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
            if streams[fd] is None or streams[fd].closed:
                raw = io.FileIO(fd, "rb" if fd == 0 else "wb", closefd=False)
                streams[fd] = io.TextIOWrapper(io.BufferedReader(raw) if fd == 0 else raw, "utf-8",
                                               "surrogateescape" if fd < 2 else "backslashreplace",
                                               write_through=True)
                setattr(sys, f"__{name}__", streams[fd])
            setattr(sys, name, streams[fd])
        signal.signal(signal.SIGINT, on_interrupt)

    def receive(length):
        parts = []
        while length:
            part = os.read(questions, min(length, 1 << 20))
            if not part:
                os._exit(0)
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def send(kind, number, payload):
        frame = memoryview(HEADER.pack(MAGIC, kind, number, len(payload)) + payload)
        while frame:
            frame = frame[os.write(answers, frame):]

    def compiled(node, name, mode):
        nonlocal flags
        code = compile(node, name, mode, flags, True)
        flags |= code.co_flags & futures
        return code

    def execute(source, name):
        tree = compile(source, name, "exec", flags | ast.PyCF_ONLY_AST, True)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        if tree.body:
            exec(compiled(tree, name, "exec"), space)
        if last is not None:
            value = eval(compiled(ast.Expression(last.value), name, "eval"), space)
            sys.displayhook(value)

    def describe(error):
        """The last line, and the frames that are the code's."""
        if isinstance(error, SystemExit):
            if error.code is None or error.code == 0:
                return None
            return f"exit code {error.code}" if isinstance(error.code, int) else str(error.code), ""
        kind, trace = type(error), error.__traceback__
        while trace and trace.tb_frame.f_globals is globals_of_driver:
            trace = trace.tb_next
        error.__traceback__ = trace
        line = "".join(traceback.format_exception_only(kind, error)).strip()
        if not isinstance(error, SyntaxError):
            line = line.partition("\n")[0] if len(line) > TEXT else line
        else:
            line = line.splitlines()[-1]
        text = "".join(traceback.format_exception(kind, error, trace, limit=-FRAMES))
        return line, text if len(text) <= TEXT else text[:TEXT // 2] + "\n[...]\n" + text[-TEXT // 2:]

    def run(source, name):
        nonlocal running, interrupted
        error = None
        try:
            try:
                interrupted = False
                running = True
                execute(source, name)
            finally:
                running = False
        except BaseException as caught:
            running = False
            error = caught
        if os.getpid() != pid:  # a child that the code forked and that came back here
            try:
                if error is not None and describe(error):
                    traceback.print_exception(type(error), error, error.__traceback__)
            finally:
                os._exit(0 if error is None or not describe(error) else 1)
        if error is None:
            return b"+"
        try:
            told = describe(error)
        except BaseException:  # what the code raises may raise again when it is looked at
            told = type(error).__name__, ""
        if told is None:
            return b"+"
        line, trace = told  # one that is longer than a frame may be would end the session
        return b"-" + "\0".join(part.replace("\0", "\ufffd") for part in (line[:TEXT], trace)).encode("utf-8", "backslashreplace")

    globals_of_driver = sys._getframe().f_globals
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    main.__builtins__ = builtins
    space = main.__dict__
    os.register_at_fork(after_in_child=after_fork)
    prepare()
    faulthandler.enable(output, all_threads=False)
    send(EVENT, 0, b"{}")
    while True:
        magic, kind, number, length = HEADER.unpack(receive(HEADER.size))
        if magic != MAGIC or kind != QUESTION:
            os._exit(70)
        source = receive(length).decode("utf-8", "replace")
        calls += 1
        name = f"<call {calls}>"
        linecache.cache[name] = len(source), None, source.splitlines(True), name
        linecache.cache.pop(f"<call {calls - SOURCES}>", None)
        prepare()
        answer = run(source, name)
        send(ANSWER, number, answer)


_drive()
