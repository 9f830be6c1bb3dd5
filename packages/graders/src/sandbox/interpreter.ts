/**
 * The Python side of a sandbox: runs one input of one program, with separate streams and a separate namespace.
 *
 * All backends use the same source, so that programs see the same environment everywhere. It is not a security
 * boundary, because a program can change anything in it. Isolation is enforced outside.
 */

/** Printed by a native interpreter before the program starts. */
export const startMark = "\u0001"

/**
 * Python source that defines `make()`. It returns `run_program(code, prelude, stdin_path, order)`, which returns an
 * exit code.
 */
export const interpreter = String.raw`
def make():
    import atexit, builtins, gc, io, linecache, os, sys, threading, traceback, types
    names = vars(builtins)
    pristine = dict(names)
    recursion = sys.getrecursionlimit()
    modules = dict(sys.modules)
    compiled = {}

    def open_streams(stdin_path):
        source = os.open(stdin_path, os.O_RDONLY)
        if source != 0:
            os.dup2(source, 0)
            os.close(source)
        sys.stdin = sys.__stdin__ = open(0, "r", encoding="utf-8", errors="surrogateescape", closefd=False)
        sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
        sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        return [sys.stdout, sys.stderr]

    def exit_code(error, err):
        code = error.code
        if code is None:
            return 0
        if isinstance(code, int):
            return code & 255
        err.write(str(code) + "\n")
        return 1

    def attempt(action, out, err):
        try:
            action()
            return 0
        except SystemExit as error:
            return exit_code(error, err)
        except BaseException as error:
            # Only the frames of the program itself.
            trace = error.__traceback__
            while trace is not None and trace.tb_frame.f_code.co_filename == attempt.__code__.co_filename:
                trace = trace.tb_next
            head = "Traceback (most recent call last):\n"
            try:
                lines = traceback.format_exception(type(error), error, trace, limit=-20)
            except BaseException:
                lines = [type(error).__name__]
            # A program that does not parse has no frames, and a text that always begins alike is known again.
            err.write("".join(lines if lines[0] == head else [head, *lines]))
            return 1

    def flush(streams):
        code = 0
        for stream in streams:
            try:
                stream.flush()
            except BaseException:
                code = 120
        return code

    def run_program(code, prelude, stdin_path, order):
        names.update(pristine)
        for name in [name for name in names if name not in pristine]:
            del names[name]
        sys.setrecursionlimit(recursion)
        for name in [name for name in sys.modules if name not in modules]:
            del sys.modules[name]
        main = types.ModuleType("__main__")
        main.__builtins__ = builtins
        main.__order__ = order
        del order
        sys.modules.update(modules)
        sys.modules["__main__"] = main
        sys.argv = ["program.py"]
        streams = open_streams(stdin_path)
        linecache.cache["program.py"] = (len(code), None, code.splitlines(True), "program.py")

        def action():
            if prelude:
                if prelude not in compiled:
                    compiled[prelude] = compile(prelude, "prelude.py", "exec", dont_inherit=True)
                exec(compiled[prelude], vars(main))
            exec(compile(code, "program.py", "exec", dont_inherit=True), vars(main))

        status = attempt(action, *streams)
        status = attempt(atexit._run_exitfuncs, *streams) or status
        return flush([sys.stdout, sys.stderr, *streams]) or status

    return run_program
`

/**
 * Setup for WebAssembly, run once per interpreter. It blocks access to JavaScript, and runs threads to completion when
 * they are started, because there is only one.
 */
export const webAssembly = `
def close():
    import _imp, os, sys, threading, time
    closed = {"js", "pyodide", "pyodide_js", "_pyodide", "_pyodide_core", "ctypes", "_ctypes"}

    class Closed:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name.partition(".")[0] in closed:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    create = _imp.create_builtin

    def create_builtin(spec):
        if spec.name in closed:
            raise ImportError(f"{spec.name} is closed", name=spec.name)
        return create(spec)

    _imp.create_builtin = create_builtin
    sys.meta_path[:] = [Closed, *(one for one in sys.meta_path if "pyodide" not in str(one))]
    for name in [name for name in sys.modules if name.partition(".")[0] in closed]:
        module = sys.modules.pop(name)
        try:
            vars(module).clear()
        except TypeError:
            pass
    # What Pyodide put in the place of these needs what is closed now.
    time.sleep = getattr(time.sleep, "__wrapped__", time.sleep)
    for name in [name for name in sys.modules if name.partition(".")[0] == "asyncio"]:
        del sys.modules[name]

    def start(self):
        if self._started.is_set():
            raise RuntimeError("threads can only be started once")
        self._started.set()
        try:
            self.run()
        except SystemExit:
            pass
        except BaseException:
            self._invoke_excepthook(self)

    # The source of randomness is opened at its first use, which must be while modules can be had.
    os.urandom(8)

    def system(command):
        raise OSError(38, "there are no processes")

    os.system = system
    threading.Thread.start = start
    threading.Thread.join = lambda self, timeout=None: None
    threading.Thread.is_alive = lambda self: False

`

/**
 * Main program for a native interpreter. It reads the program and input from its folder, sets limits on itself, and
 * works in its current folder. These limits are a second line of defense; the first is enforced around the process.
 */
export const processMain = `${interpreter}
def start():
    import json, os, sys, threading
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "program.json"), encoding="utf-8") as file:
        program = json.load(file)
    try:
        import resource
        million = 1024 * 1024
        for name, value in [("RLIMIT_AS", program["memoryMegabytes"] * million), ("RLIMIT_NPROC", 64),
                            ("RLIMIT_FSIZE", 256 * million), ("RLIMIT_CORE", 0), ("RLIMIT_CPU", program["seconds"]),
                            ("RLIMIT_STACK", 256 * million)]:
            if value is None or not hasattr(resource, name):
                continue
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, hard if name == "RLIMIT_STACK" else value))
    except ImportError:
        pass
    for name, text in program["files"].items():
        with open(os.path.basename(name), "w", encoding="utf-8") as file:
            file.write(text)
    run_program = make()
    os.write(1, b"\x01")
    status = run_program(program["code"], program["prelude"], os.path.join(here, "input"),
                         sys.stdin.buffer.read().decode())
    try:
        threading._shutdown()
        sys.stdout.flush()
    except BaseException:
        pass
    os._exit(status)

start()
`
