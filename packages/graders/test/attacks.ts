/** Ways in which a program may try to make its own verdict, take itself out of the mean, or stop the evaluation. */

import type * as Task from "@divisi/core/Task"
import { calling, fenced, printing, record, taskOf } from "./programs.ts"

/** One way: what stands in a function that never computes the right result. */
export interface Attack {
  readonly name: string
  /** Statements of the function; `x` is its argument. What it gives is wrong unless it says so itself. */
  readonly body: string
  /** Statements outside of the function, run when the program is loaded. */
  readonly top?: string
}

/** Walks up the frames from here, however they are come by. */
const frames = (start: string, each: string) => `
import sys
frame = ${start}
while frame is not None:
    try:
        ${each.replaceAll("\n", "\n        ")}
    except Exception: pass
    frame = frame.f_back`

/** Says in all words that a driver may have used, read from frames, that every test passed. */
const forge = `
for value in list(frame.f_locals.values()):
    words = [value] if isinstance(value, str) else list(value.values()) if isinstance(value, dict) else []
    for word in words:
        if isinstance(word, str) and word.startswith('['):
            os.write(1, ('\\n' + word + 'end \\n' + word + 'passed 746573745f6f6e65\\n' + word + '["i", "2"]\\n').encode())`

const clear = `
for value in list(frame.f_locals.values()):
    for name in ('failures', 'errors', 'skipped'):
        if hasattr(value, name): getattr(value, name).clear()
    for cell in getattr(value, '__closure__', None) or ():
        if isinstance(cell.cell_contents, (list, dict)): cell.cell_contents.clear()
        elif isinstance(cell.cell_contents, tuple): cell.cell_contents = ()`

const everyClass = `
def classes(root):
    for one in type.__subclasses__(root):
        yield one
        yield from classes(one)`

const constants = `
for value in code.co_consts:
    if isinstance(value, int) and not isinstance(value, bool) and value != x: return value`

/** Reads frames of another interpreter's making: a signal's handler is given one. */
const signalled = (each: string) => `
import os, signal
def handler(number, frame):
    while frame is not None:
        try:
            ${each.replaceAll("\n", "\n            ")}
        except Exception: pass
        frame = frame.f_back
signal.signal(signal.SIGINT, handler)
signal.raise_signal(signal.SIGINT)`

const frame = (body: string) => `
import os, struct
for fd in range(3, 20):
    try: os.write(fd, struct.pack('<I', ${body}.__len__()) + ${body})
    except OSError: pass`

/** Digs Pyodide's own module out of the import's wrapper, to write where the sandbox does. */
const dig = `
import _imp, importlib.machinery
create = [c.cell_contents for c in _imp.create_builtin.__closure__ if callable(c.cell_contents)][0]
core = create(importlib.machinery.ModuleSpec('_pyodide_core', None))
Object = core.to_js({}).constructor`

const equal = (base: string) =>
  `class All(${base}):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0`

/** The ways that the sandboxes' graders were once attacked in. */
export const known: ReadonlyArray<Attack> = [
  { name: "assertEqual is replaced", body: "import unittest\nunittest.TestCase.assertEqual = lambda *a: None" },
  { name: "TestCase.run is replaced", body: "import unittest\nunittest.TestCase.run = lambda self, result: result" },
  {
    name: "failures are not added",
    body: "import unittest\nunittest.TestResult.addFailure = unittest.TestResult.addError = lambda *a: None"
  },
  {
    name: "the executor of test parts has other code",
    body: "import unittest\nunittest.case._Outcome.testPartExecutor.__wrapped__.__code__ = (lambda self, *a, **k: (yield)).__code__"
  },
  { name: "TestCase is an empty class", body: "import unittest\nclass Empty: pass\nunittest.TestCase = Empty" },
  {
    name: "unittest is another module",
    body: "import sys, types\nsys.modules['unittest'] = types.ModuleType('unittest')\nsys.modules['unittest'].TestCase = object"
  },
  {
    name: "AssertionError is an error that nobody catches",
    body: "import builtins\nbuiltins.AssertionError = type('Never', (BaseException,), {})"
  },
  { name: "the process ends with 0", body: "import os\nos._exit(0)" },
  { name: "the program exits", body: "import sys\nsys.exit(0)" },
  { name: "standard output is nothing", body: "import sys\nprint('OK')\nsys.stdout = sys.__stdout__ = None" },
  { name: "an exit handler ends the process", body: "import atexit, os\natexit.register(os._exit, 0)" },
  { name: "the tests are a class of the program", body: "class TestCases: pass\nglobals()['TestCases'] = TestCases" },
  { name: "the test is skipped", body: "import unittest\nraise unittest.SkipTest('no')" },
  { name: "json.dumps is replaced", body: 'import json\njson.dumps = lambda *a: \'["i", "2"]\'' },
  {
    name: "what json.dumps is made of is replaced",
    body: "import json\njson.JSONEncoder.encode = lambda *a: '[\"i\", \"2\"]'\njson.JSONEncoder.iterencode = lambda *a: ['2']"
  },
  {
    name: "an exit handler writes a report with words from frames",
    body: `import atexit, os\n${frames("sys._getframe()", forge)}\natexit.register(os.write, 1, b'end')`
  },
  {
    name: "the driver's closures have other code",
    body: `import gc\nfor one in gc.get_objects():\n    if getattr(one, '__name__', '') in ('changed', 'see', 'encode'):\n        try: one.__code__ = (lambda *a: []).__code__\n        except Exception: pass`
  },
  {
    name: "the expectation is read from the test's code",
    body: frames("sys._getframe(1)", "code = frame.f_code") + constants
  },
  { name: "an object equals everything", body: `${equal("object")}\nreturn All()` },
  { name: "a number equals everything", body: `${equal("int")}\nreturn All(0)` },
  { name: "a list equals everything", body: `${equal("list")}\nreturn All()` },
  { name: "isinstance says yes", body: "import builtins\nbuiltins.isinstance = lambda *a: True" },
  { name: "print is silent", body: "import builtins\nbuiltins.print = lambda *a, **k: None" },
  { name: "sys.exit does nothing", body: "import sys\nsys.stdout = None\nsys.exit = lambda *a: None" },
  { name: "success is printed", body: "print('PASS', 'all tests pass', True)\nimport os\nos._exit(0)" },
  {
    name: "the order is printed with its words",
    body: `import os\n${frames("sys._getframe()", "print(frame.f_locals, flush=True)")}\n${frames("sys._getframe()", forge)}`
  },
  {
    name: "numpy is missing, it prints",
    body: "import sys\nsys.exit(\"ModuleNotFoundError: No module named 'numpy'\")"
  },
  { name: "numpy is missing, it raises", body: "raise ModuleNotFoundError(\"No module named 'numpy'\", name='numpy')" },
  { name: "pandas is missing", body: "import no_such_package_as_pandas" },
  {
    name: "every pipe is closed",
    body: "import os\nfor fd in range(0, 30):\n    try: os.close(fd)\n    except OSError: pass"
  },
  { name: "a reply that is an array", body: frame("b'[]'") },
  {
    name: "a reply with numbers for text",
    body: frame('b\'{"type":"finished","stdout":5,"stderr":7,"exitCode":0,"isReusable":true,"isStarved":false}\'')
  },
  { name: "a reply that is ready", body: frame('b\'{"type":"ready"}\'') },
  { name: "a reply of nothing known", body: frame('b\'{"type":"constructor"}\'') },
  {
    name: "a reply that promises more",
    body: "import os\nfor fd in range(3, 20):\n    try: os.write(fd, b'\\xff\\xff\\xff\\x7f')\n    except OSError: pass"
  },
  { name: "Pyodide's own module is reached", body: `${dig}\nObject.constructor('return process')().kill(1)` }
]

/** More ways. */
export const more: ReadonlyArray<Attack> = [
  {
    name: "assertEqual is replaced for one call",
    body: "import unittest\nkept = unittest.TestCase.assertEqual\ndef once(*a, **k): unittest.TestCase.assertEqual = kept\nunittest.TestCase.assertEqual = once"
  },
  {
    name: "assertIsInstance is replaced for one call",
    body: "import unittest\nkept = unittest.TestCase.assertIsInstance\ndef once(*a, **k): unittest.TestCase.assertIsInstance = kept\nunittest.TestCase.assertIsInstance = once\nreturn 'no number'"
  },
  {
    name: "every assertion is replaced",
    body: "import unittest\nfor name in dir(unittest.TestCase):\n    if name.startswith('assert'): setattr(unittest.TestCase, name, lambda *a, **k: None)"
  },
  { name: "a failure is a skip", body: "import unittest\nunittest.TestCase.failureException = unittest.SkipTest" },
  { name: "unittest's own stop is raised", body: "import unittest.case\nraise unittest.case._ShouldStop" },
  { name: "an interrupt is raised", body: "raise KeyboardInterrupt" },
  { name: "a generator's exit is raised", body: "raise GeneratorExit" },
  { name: "an error that is no Exception is raised", body: "class Own(BaseException): pass\nraise Own" },
  {
    name: "an error whose text is an error",
    body: "class Own(Exception):\n    def __str__(self): raise self\nraise Own"
  },
  {
    name: "errors are chained in a ring",
    body: "a, b = ValueError(), KeyError()\na.__context__ = b\nb.__context__ = a\nraise a"
  },
  { name: "mock.ANY", body: "from unittest import mock\nreturn mock.ANY" },
  {
    name: "a MagicMock",
    body: "from unittest import mock\none = mock.MagicMock()\none.__eq__ = lambda *a: True\nreturn one"
  },
  { name: "a float equals everything", body: `${equal("float")}\nreturn All(0)` },
  { name: "a text equals everything", body: `${equal("str")}\nreturn All('0')` },
  { name: "a tuple equals everything", body: `${equal("tuple")}\nreturn All()` },
  { name: "a dictionary equals everything", body: `${equal("dict")}\nreturn All()` },
  {
    name: "a class passes itself off as numpy's number",
    body: "class int64:\n    ndim = 0\n    def item(self): return self\n    def __eq__(self, other): return True\nint64.__module__ = 'numpy'\nreturn int64()"
  },
  {
    name: "a type equals everything",
    body: "class Meta(type):\n    def __eq__(cls, other): return True\n    __hash__ = type.__hash__\nclass All(metaclass=Meta): pass\nreturn All"
  },
  {
    name: "a fraction that is none",
    body: "from fractions import Fraction\none = Fraction(1, 3)\none._denominator = 0\nreturn one"
  },
  { name: "a number that is none", body: "return float('nan')" },
  { name: "a list that holds itself", body: "one = []\none.append(one)\nreturn one" },
  { name: "a very deep list", body: "one = []\nfor _ in range(100000): one = [one]\nreturn one" },
  {
    name: "the child goes on and the parent ends",
    body: "import os\nif os.fork(): os._exit(0)\nreturn 0"
  },
  {
    name: "the child ends the parent",
    body: "import os, signal\nif not os.fork(): os.kill(os.getppid(), signal.SIGKILL)"
  },
  { name: "the process kills itself", body: "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)" },
  { name: "the process aborts", body: "import os\nos.abort()" },
  {
    name: "another program takes its place",
    body: "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'print(\"OK\")'])"
  },
  {
    name: "a thread replaces assertions for ever",
    body: "import threading, unittest\ndef work():\n    for _ in range(100000): unittest.TestCase.assertEqual = lambda *a: None\nthreading.Thread(target=work, daemon=True).start()"
  },
  {
    name: "memory is read as a file",
    body: "memory = open('/proc/self/mem', 'rb+', buffering=0)\nfor line in open('/proc/self/maps'):\n    if 'heap' in line or 'rw-p' in line:\n        start, end = [int(part, 16) for part in line.split()[0].split('-')]\n        memory.seek(start)\n        data = memory.read(min(end - start, 10 ** 7))\n        at = data.find(b'end ')\n        if at > 0: print(data[at - 50 : at])"
  },
  { name: "memory is read with ctypes", body: "import ctypes\nctypes.memset(id(2) + 24, 0, 4)" },
  { name: "two is made zero with ctypes", body: "import ctypes\nctypes.c_int.from_address(id(2) + 24).value = 0" },
  {
    name: "lines are skipped by a trace",
    body: "import sys\ndef trace(frame, event, argument):\n    frame.f_trace = trace\n    return trace\nsys.settrace(trace)\nsys._getframe(1).f_trace = trace"
  },
  {
    name: "results are replaced by a profile",
    body: "import sys\nsys.setprofile(lambda frame, event, argument: frame.f_locals.clear())"
  },
  {
    name: "code is watched by the monitor",
    body: "import sys\nsys.monitoring.use_tool_id(3, 'x')\nsys.monitoring.register_callback(3, sys.monitoring.events.PY_START, print)"
  },
  { name: "a signal's frames are forged from", body: signalled(forge) },
  { name: "a signal's frames lose their failures", body: signalled(clear) },
  {
    name: "an error's frames lose their failures",
    body: `try: 1 / 0\nexcept Exception as error: start = error.__traceback__.tb_frame\n${frames("start", clear)}`
  },
  {
    name: "a generator's frames lose their failures",
    body: `def one():\n    yield\nstart = one()\n${frames("start.gi_frame or sys._getframe()", clear)}`
  },
  { name: "inspect's frames are forged from", body: `import inspect, os\n${frames("inspect.currentframe()", forge)}` },
  { name: "logging's frames are forged from", body: `import logging, os\n${frames("logging.currentframe()", forge)}` },
  {
    name: "frames come by copy",
    body: `import copy, os, sys\nclass Own:\n    def __reduce_ex__(self, protocol): return (sys._getframe, (1,))\n${frames("copy.copy(Own())", clear)}`
  },
  {
    name: "bytecode of its own",
    body: "def own(): pass\nown.__code__ = own.__code__.replace(co_code=b'\\xff' * 64)\nown()"
  },
  {
    name: "code out of a text of bytes",
    body: "import marshal\nexec(marshal.loads(marshal.dumps(compile('1', 'unittest/case.py', 'exec'))))"
  },
  {
    name: "code under a library's name",
    body: `import os, sys\nexec(compile("import gc\\nfound = gc.get_objects()", os.__file__, 'exec'))`
  },
  { name: "standard input is read again", body: "import os\nos.lseek(0, 0, 0)\nprint(os.read(0, 10 ** 6))" },
  {
    name: "the sandbox's files are read",
    body: "for place in ('/program/input', '/program/program.json', '/input'):\n    try: print(open(place).read())\n    except OSError: pass"
  },
  {
    name: "descriptors are copied over the output",
    body: "import os\nfor fd in range(3, 20):\n    try: os.dup2(1, fd)\n    except OSError: pass\nos.write(1, b'[] end\\n')"
  },
  {
    name: "all of the words' shapes are printed",
    body: "import uuid\nfor _ in range(1000): print('[' + str(uuid.uuid4()) + '] end ')"
  },
  {
    name: "length is zero",
    body: "import builtins\nbuiltins.len = lambda x: 0\nbuiltins.abs = builtins.round = lambda *a: 0"
  },
  {
    name: "its names stand for builtins",
    top: "def sum(*a): return 0\ndef isinstance(*a): return True\ndef len(x): return 0",
    body: "return 0"
  },
  {
    name: "import gives another unittest",
    top: "import builtins, types, unittest\nplain = builtins.__import__\nclass TestCase(unittest.TestCase):\n    def assertEqual(self, *a): pass\n    assertIsInstance = assertEqual\nfake = types.ModuleType('unittest')\nvars(fake).update(vars(unittest), TestCase=TestCase)\ndef own(name, *a):\n    if name != 'unittest': return plain(name, *a)\n    builtins.__import__ = plain\n    return fake\nbuiltins.__import__ = own",
    body: "return 0"
  },
  {
    name: "another unittest lies in its folder",
    top: "open('unittest.py', 'w').write('class TestCase: pass')\nimport sys\nsys.path.insert(0, '.')\nsys.modules.pop('unittest', None)",
    body: "return 0"
  },
  {
    name: "notes go through its own hands",
    body: "module = __import__('sys').modules['__test__']\nfor name in list(vars(module)):\n    if name.startswith('__') and callable(vars(module)[name]): setattr(module, name, lambda *a: a)"
  },
  {
    name: "the tests' defaults are replaced",
    body: `import unittest\nfor case in unittest.TestCase.__subclasses__():\n    for name in dir(case):\n        if name.startswith('test'):\n            for key in list(getattr(case, name).__kwdefaults__ or ()): getattr(case, name).__kwdefaults__[key] = lambda *a: a`
  },
  {
    name: "the tests' methods are replaced",
    body: "import unittest\nfor case in unittest.TestCase.__subclasses__():\n    for name in dir(case):\n        if name.startswith('test'): setattr(case, name, lambda self: None)"
  },
  {
    name: "the expectation is read from a class",
    body: `import unittest\nfor case in unittest.TestCase.__subclasses__():\n    for name in dir(case):\n        if name.startswith('test'):\n            code = getattr(case, name).__code__${constants.replaceAll("\n", "\n            ")}`
  },
  {
    name: "every class is searched",
    body: `${everyClass}\nfor one in classes(object):\n    for name in ('addSuccess', 'addFailure', 'addError', 'assertEqual', 'assertIsInstance'):\n        if name in vars(one):\n            try: setattr(one, name, lambda *a: None)\n            except Exception: pass`
  },
  {
    name: "the instance of the test is replaced in",
    body: frames(
      "sys._getframe()",
      "one = frame.f_locals.get('self')\none.assertEqual = one.assertIsInstance = lambda *a: None"
    )
  },
  {
    name: "objects are searched for what refers to them",
    body: "import gc\nfor one in gc.get_referrers(gc.get_referrers):\n    if isinstance(one, dict): one.pop('assertEqual', None)"
  },
  {
    name: "another interpreter is started",
    body: "try: import _interpreters as i\nexcept ImportError: import _xxsubinterpreters as i\ni.run_string(i.create(), 'import os; os.write(1, b\"OK\")')"
  },
  {
    name: "standard error claims that the wall failed",
    body: "import os\nos.write(2, b'bwrap: cannot start\\n')\nos._exit(1)"
  },
  { name: "the exit code of an engine that failed", body: "import os\nos._exit(125)" },
  { name: "the exit code of a command that is missing", body: "import os\nos._exit(127)" },
  { name: "the exit code of a kill", body: "import os\nos._exit(137)" },
  { name: "a very long error", body: "raise ValueError('x' * 10 ** 6)" },
  {
    name: "output that is no text",
    body: "import os\nos.write(1, bytes(range(256)) * 100)\nos.write(2, b'\\xff' * 1000)"
  },
  { name: "half a surrogate", body: "return '\\ud800'" }
]

/** What a task is like, and how an attack stands in an answer to it. */
export interface Stage {
  readonly name: string
  readonly grader: "liveCodeBench" | "bigCodeBench"
  readonly task: Task.Task
  readonly answer: (attack: Attack) => string
}

const indent = (text: string) => text.replace(/^/gm, "    ")

const asFunction = (name: string, { body, top = "" }: Attack, otherwise = "0") =>
  `${top}\ndef ${name}(x):\n${indent(body)}\n    return ${otherwise}\n`

/** Without a literal to keep back: all is decided beside the program. */
const inside = {
  ...record,
  test: "import unittest\nclass TestCases(unittest.TestCase):\n    def test_one(self):\n        for x in [1, 2, 3]:\n            self.assertEqual(task_func(x), x + x)\n    def test_two(self):\n        result = task_func(5)\n        self.assertIsInstance(result, int)\n        self.assertEqual(result, sum([5, 5]))\n"
}

/** What BigCodeBench keeps of a program: whatever its function needs. */
const kept = (attack: Attack) =>
  attack.top === undefined
    ? attack
    : {
        ...attack,
        top: `def load():\n${indent(attack.top)}\n    globals().update(locals())\nloaded = load()`,
        body: `loaded\n${attack.body}`
      }

export const stages: ReadonlyArray<Stage> = [
  {
    name: "printed",
    grader: "liveCodeBench",
    task: printing(["1", "2"]),
    answer: (attack) => fenced(`${asFunction("f", attack)}print(f(int(input())))`)
  },
  {
    name: "called",
    grader: "liveCodeBench",
    task: calling("f", ["1", "[2]"]),
    answer: (attack) => fenced(asFunction("f", attack))
  },
  {
    name: "unit tests that expect literals",
    grader: "bigCodeBench",
    task: taskOf(record),
    answer: (attack) => fenced(asFunction("task_func", kept(attack)))
  },
  {
    name: "unit tests that expect literals, when the program is loaded",
    grader: "bigCodeBench",
    task: taskOf(record),
    answer: (attack) =>
      fenced(`${asFunction("attack", kept(attack))}tricked = attack(1)\ndef task_func(x):\n    tricked\n    return 0`)
  },
  {
    name: "unit tests that expect no literal",
    grader: "bigCodeBench",
    task: taskOf(inside),
    answer: (attack) => fenced(asFunction("task_func", kept(attack)))
  }
]
