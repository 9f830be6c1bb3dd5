/**
 * Runs a solution and its `unittest` tests in one interpreter, as BigCodeBench does, and judges the recorded events.
 *
 * The program controls the interpreter, so the interpreter is not asked for a verdict. It records events on a pipe that
 * cannot be rewound: that a test started, which value an assertion saw, and that the test ended. The expected values
 * are not in the interpreter (see `testText.ts`); the judge compares them in another process. Assertions that must stay
 * inside are monitored, and so is any attempt of the program to access its tests.
 */
import { randomUUID } from "node:crypto"
import * as Assertions from "./assertions.ts"
import { encoder, isValue, type PythonValue } from "./PythonValue.ts"
import { candidates } from "./programText.ts"
import { extraction } from "./solutionText.ts"
import type { Point, TestText } from "./testText.ts"

// -------------------------------------------------------------------------------------------------------------------
// The program
// -------------------------------------------------------------------------------------------------------------------

/**
 * Python source that defines `make_changed(mentioned)`. The resulting function lists everything that has been modified
 * in `unittest`, the builtins and the modules that tests use. It does not depend on anything that a program can
 * replace.
 */
const surface = `
def make_changed(mentioned, outcome_type):
    import builtins, collections, difflib, io, json, os, os.path, sys, unittest, unittest.mock
    gone, early, late = object(), [], []

    def keep(into, place, names, title):
        get = place.get
        for name in names:
            into.append((get, name, place[name], title + "." + name))

    for title, module in list(sys.modules.items()):
        if title == "unittest" or title.startswith("unittest."):
            keep(early, vars(module), [name for name, value in vars(module).items() if callable(value)], title)
            for name, value in list(vars(module).items()):
                if isinstance(value, type) and value.__module__.startswith("unittest"):
                    own = [one for one in vars(value) if one != "maxDiff" and not one.startswith("__a")]
                    keep(early, vars(value), own, title + "." + name)
    keep(early, vars(outcome_type), [name for name in vars(outcome_type) if not name.startswith("__a")], "outcome")
    used = {name for name in vars(builtins) if name != "_"}
    # Tests may put something else in the place of these while they run.
    mocked = {"open", "print", "input", "exit", "quit", "__import__", *mentioned}
    keep(early, vars(builtins), sorted(used - mocked), "builtins")
    keep(late, vars(builtins), sorted(mocked & used), "builtins")
    for module in (os, os.path, json, io, collections, difflib):
        keep(late, vars(module), [name for name, value in vars(module).items() if callable(value)], module.__name__)
    early, late = tuple(early), tuple(early + late)

    def changed(is_end):
        found = ""
        for get, name, value, title in late if is_end else early:
            if get(name, gone) is not value:
                found += title + " "
        return found

    return changed
`

/**
 * Python source that defines `watch(say)`. From then on, an audit hook reports when a program accesses frames, objects
 * that it was not given, the code or defaults of its test functions, or process memory. Audit hooks cannot be removed.
 */
const watch = `
def watch(say):
    import os, sys, types
    from _thread import get_ident
    library = (os.path.dirname(os.__file__) + "/", "<frozen ")
    ours, string, getframe, instance = ("program.py", "__test__.py"), str, sys._getframe, isinstance
    function, frame_type, busy = types.FunctionType, types.FrameType, {}
    always = frozenset(["gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.settrace", "sys.setprofile",
                        "sys._current_frames", "sys.monitoring.register_callback", "code.__new__", "marshal.loads"])
    frames = frozenset(["tb_frame", "gi_frame", "cr_frame", "ag_frame"])
    inner = frozenset(["__code__", "__defaults__", "__kwdefaults__"])
    closed = frozenset(["ctypes", "_ctypes", "_testcapi", "_testinternalcapi", "_testlimitedcapi", "_interpreters",
                        "_xxsubinterpreters", "_interpchannels"])
    memory = ("/mem", "/maps", "/smaps", "/pagemap")
    friends = ("/collections/__init__.py", "/typing.py", "/enum.py", "/warnings.py", "/contextlib.py",
               "/dataclasses.py", "/unittest/mock.py", "/unittest/case.py", "/unittest/result.py")
    endswith, startswith = string.endswith, string.startswith

    def is_library(file):
        return startswith(file, library) or "-packages/" in file

    def caller():
        # The first frame that is no library's, and the library's frames before it.
        frame, chain = getframe(2), []
        while frame is not None and is_library(frame.f_code.co_filename):
            chain += [(frame.f_code.co_filename, frame.f_code.co_name)]
            frame = frame.f_back
        return (None if frame is None else frame.f_code.co_filename), chain

    def is_usual(chain):
        # Frames and code are an everyday matter to some libraries, which do not hand them on.
        if not chain:
            return False
        (file, name), more = chain[0], chain[1:]
        if "-packages/" in file or startswith(file, "<frozen ") or endswith(file, friends) or "/asyncio/" in file:
            return True
        if endswith(file, ("/logging/__init__.py", "/traceback.py")):
            return name != "walk_stack" and more != []
        if endswith(file, "/inspect.py"):
            for other, _ in more:
                if not endswith(other, "/inspect.py"):
                    return True
        return False

    def concerns(event, arguments):
        if event in always or event == "sys._getframe":
            return True
        if event == "object.__getattr__" or event == "object.__setattr__":
            target, name = arguments[0], arguments[1]
            if name in frames:
                return True
            if name == "f_code" and instance(target, frame_type):
                return target.f_code.co_filename in ours
            if name in inner and instance(target, function):
                file = target.__code__.co_filename
                return file in ours or is_library(file) and (event == "object.__setattr__" or "/unittest/" in file)
            return False
        if event == "import":
            return arguments[0] in closed
        if event == "compile":
            return instance(arguments[1], string) and (is_library(arguments[1]) or arguments[1] in ours)
        if event == "open":
            path, mode, flags = arguments
            if not instance(path, string):
                return False
            writes = instance(flags, int) and flags & 3
            return startswith(path, "/proc/") and endswith(path, memory) or writes and is_library(path)
        return startswith(event, "ctypes.")

    def is_by_hand(chain):
        # Libraries use the closed modules; a program that does it has none but their own code and the import's between.
        for file, _ in chain:
            if not ("/ctypes/" in file or "/importlib/" in file or startswith(file, "<frozen importlib")):
                return False
        return True

    def hook(event, arguments):
        me = get_ident()
        if me in busy:
            return
        busy[me] = True
        try:
            if concerns(event, arguments):
                file, chain = caller()
                if file in ours:
                    return
                if is_by_hand(chain) if event == "import" or startswith(event, "ctypes.") else not is_usual(chain):
                    say(event)
        finally:
            del busy[me]

    sys.addaudithook(hook)
`

/** The driver program. Reads its order and reports events as lines that start with a token. */
export const driver = `${encoder}${extraction}${surface}${watch}${String.raw`
def drive(order):
    import builtins, io, json, os, sys, types, unittest
    write, text_of, bytes_of, hexadecimal = os.write, str, str.encode, bytes.hex

    def put(line):
        data = bytes_of("\n" + line + "\n", "utf-8", "replace")
        while data:
            data = data[write(1, data):]

    def hexed(text):
        return hexadecimal(bytes_of(text, "utf-8", "replace"))

    class Outcome(unittest.TestResult):
        def addSuccess(self, test):
            self.passed.append(test._testMethodName)

    def last(trace):
        lines = [line for line in trace.strip().splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""

    def decides_itself(kind):
        # An object of the program's that says itself what it equals would decide the assertion.
        for place in type.mro(kind):
            own = type.__getattribute__(place, "__dict__").get("__eq__")
            if own is not None:
                return getattr(getattr(own, "__code__", None), "co_filename", "") == "solution.py"
        return False

    def make_note(changed, broken):
        dumps, encode = json.dumps, make_encode()

        def see(*values):
            found = changed(False)
            if found:
                put(broken + found)
            for value in values:
                if decides_itself(type(value)):
                    put(broken + "an object with an equality of its own")
            return values

        def note(token, value):
            see()
            put(token + dumps(encode(value)))

        return note, see

    def load(code, calibration):
        module = types.ModuleType("__test__")
        vars(module).update(__file__="__test__.py", sys=sys, os=os, environ=os.environ)
        sys.modules["__test__"] = module
        try:
            exec(compile(calibration + code, "solution.py", "exec", dont_inherit=True), vars(module))
            return module, None
        except BaseException as error:
            return module, error

    plain = types.SimpleNamespace(**vars(builtins))
    own = (object, unittest.TestCase, unittest.IsolatedAsyncioTestCase)

    def is_of_the_text(cases):
        # A program may have slipped in a class of its own between the tests and unittest's.
        for place in type.mro(cases):
            for name in () if place in own else vars(unittest.TestCase).keys() & vars(place).keys():
                value = getattr(vars(place)[name], "__func__", vars(place)[name])
                file = getattr(getattr(value, "__code__", None), "co_filename", "")
                if callable(value) and not file.endswith(("__test__.py", "/unittest/mock.py")):
                    return False
        return issubclass(cases, unittest.TestCase)

    def run(tests, note, see, outcome, loaded):
        module, error = loaded
        try:
            if error is not None:
                raise error
            vars(module).update(__note__=note, __see__=see, __plain__=plain)
            exec(tests, vars(module))
            del tests, note, see, module.__note__, module.__see__, module.__plain__
            cases = module.TestCases
            if not is_of_the_text(cases):
                raise TypeError("TestCases is not what the tests say")
            unittest.TestLoader().loadTestsFromTestCase(cases).run(outcome)
            bad = [*outcome.failures, *outcome.errors, *outcome.skipped]
            bad += [(case, "it should have failed") for case in outcome.unexpectedSuccesses]
            problems = [(getattr(case, "_testMethodName", "(loading)"), last(trace)) for case, trace in bad]
        except BaseException as error:
            problems = [("(loading)", (type(error).__name__ + ": " + text_of(error))[:300])]
        return problems, [case._testMethodName for case, _ in outcome.skipped], outcome.passed

    def finish(marker, changed, ended):
        problems, skipped, passed = ended
        for name, trace in problems[:50]:
            put(marker + "problem " + hexed(name) + " " + hexed(trace))
        for name in skipped:
            put(marker + "skipped " + hexed(name))
        for name in passed:
            put(marker + "passed " + hexed(name))
        found = changed(True)
        if found:
            put(marker + "tampered " + hexed(found))
        put(marker + "end ")

    tests = compile(order.pop("test"), "__test__.py", "exec", dont_inherit=True)
    code = order.pop("code", None)
    if code is None:
        try:
            code = extract_solution(order.pop("texts"), order["entry"])
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            code = ""
    put(order.pop("opening") + hexed(code))
    if not code.strip():
        return
    outcome = Outcome()
    outcome.passed = []
    changed, broken = make_changed(order.pop("mentioned"), Outcome), order.pop("broken")
    held = [order.pop("marker"), changed, tests, *make_note(changed, broken), outcome]
    watch(lambda event, put=put, broken=broken: put(broken + event))
    del outcome, changed, tests, broken
    sys.stdout = sys.stderr = io.StringIO()
    # What is secret waits on the stack of this frame, which has no name for it: who looks at its names finds nothing.
    finish(held.pop(0), held.pop(0), run(held.pop(0), held.pop(0), held.pop(0), held.pop(0),
                                         load(code, order.pop("calibration"))))

drive(__import__("json").loads(globals().pop("__order__")))
`}`

// -------------------------------------------------------------------------------------------------------------------
// Orders
// -------------------------------------------------------------------------------------------------------------------

/** The tests of a task after rewriting. See {@link TestText}. */
export interface Tests extends TestText {
  readonly original: string
  readonly prefix: string
}

/** A single run: the order for the interpreter, and the tokens that identify its output lines. */
export interface Order {
  readonly text: string
  readonly opening: string
  readonly marker: string
  readonly broken: string
  /** The token of each point. */
  readonly tokens: ReadonlyArray<string>
}

/** Creates the order for a run. All tokens are freshly generated, so a program cannot print them in advance. */
export const order = (
  tests: Tests,
  about: { readonly entry: string; readonly calibration: string },
  solution: { readonly answer: string } | { readonly code: string }
): Order => {
  const program = "answer" in solution ? { texts: candidates(solution.answer) } : solution
  const word = () => `[${randomUUID()}] `
  const tokens = tests.points.map(word)
  const numbered = new RegExp(`${tests.prefix}(\\d+)\\.`, "g")
  const test = tests.text.replace(numbered, (_, number: string) => tokens[Number(number)] ?? "")
  const words = { opening: word(), marker: word(), broken: word() }
  const mentioned = [...tests.original.matchAll(/\bbuiltins\.(\w+)/g)].map(([, name]) => name)
  return { ...words, tokens, text: JSON.stringify({ ...about, ...program, ...words, test, mentioned }) }
}

// -------------------------------------------------------------------------------------------------------------------
// Judgement
// -------------------------------------------------------------------------------------------------------------------

/** The recorded events of a run, compared with those of an honest run. */
export interface Findings {
  /** The program found in the answer. Empty if there is none; undefined if the run did not start. */
  readonly code?: string | undefined
  /** Whether the run finished and reported its result. */
  readonly isComplete: boolean
  readonly tests: number
  /** Tests that did not pass: name and problem. */
  readonly problems: ReadonlyArray<readonly [string, string]>
  /** Protected objects that the program changed or accessed. */
  readonly tampered: ReadonlyArray<string>
  /** Keys of the points with an unexpected value. */
  readonly wrong: ReadonlyArray<string>
}

const textOf = (hexadecimal: string): string => Buffer.from(hexadecimal, "hex").toString()

/** Returns the rest of each line that starts with a token. */
const linesWith = (lines: ReadonlyArray<string>, word: string): ReadonlyArray<string> =>
  lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length))

const valueIn = (text: string): PythonValue | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isValue(value) ? value : undefined
  } catch {
    return undefined
  }
}

const indexOfToken = (tokens: ReadonlyArray<string>) => {
  const known = new Map(tokens.map((token, index) => [token, index]))
  const length = tokens[0]?.length ?? 0
  return (line: string) => known.get(line.slice(0, length))
}

/** Returns the recorded points in order, with the value at each. */
const notesIn = (lines: ReadonlyArray<string>, tokens: ReadonlyArray<string>) => {
  const indexOf = indexOfToken(tokens)
  return lines.flatMap((line) => {
    const index = indexOf(line)
    return index === undefined ? [] : [{ index, value: valueIn(line.slice(tokens[index]!.length)) }]
  })
}

/**
 * Returns the fault in the record of one test, if any. It must contain every point of the test exactly once, in order.
 */
const faultOf = (
  points: ReadonlyArray<{ readonly point: Point; readonly index: number }>,
  notes: ReturnType<typeof notesIn>,
  onWrong: (key: string) => void
): string | undefined => {
  const own = new Set(points.map(({ index }) => index))
  const noted = notes.filter(({ index }) => own.has(index))
  let fault: string | undefined
  for (const [at, { index, point }] of points.entries()) {
    const note = noted[at]
    if (note?.index !== index) return fault ?? "it did not finish"
    if (point.kind !== "assertion" || (note.value !== undefined && Assertions.holds(point, note.value))) continue
    onWrong(point.key)
    fault ??= `${point.assertion} does not hold`
  }
  return noted.length > points.length ? "it reported more results than expected" : fault
}

/** Evaluates the output of a run. */
export const judge = (tests: Tests, { broken, marker, opening, tokens }: Order, stdout: string): Findings => {
  const lines = stdout.split("\n")
  const report = linesWith(lines, marker).map((line) => line.trimEnd().split(" "))
  const reported = (kind: string) => report.filter(([first]) => first === kind).map(([, ...rest]) => rest.map(textOf))
  const notes = notesIn(lines, tokens)
  const maySkip = /skip/i.test(tests.original)
  const skipped = new Set(maySkip ? reported("skipped").map(([name]) => name) : [])
  const passed = new Set(reported("passed").map(([name]) => name))
  const told = new Map(reported("problem").map(([name = "", text = ""]) => [name, text]))
  const wrong: Array<string> = []
  const byTest = Map.groupBy(
    tests.points.map((point, index) => ({ point, index })),
    ({ point }) => point.test
  )
  const problems = [...byTest].flatMap(([name, points]): ReadonlyArray<readonly [string, string]> => {
    if (skipped.has(name)) return []
    const fault = faultOf(points, notes, (key) => wrong.push(key))
    const text = told.get(name) ?? told.get("(loading)") ?? fault ?? (passed.has(name) ? undefined : "it did not pass")
    return text === undefined ? [] : [[name, text]]
  })
  const others = [...told].filter(([name]) => !byTest.has(name) && !(maySkip && skipped.has(name)))
  const order = notes.map(({ index }) => index)
  const isInOrder = order.every((index, at) => at === 0 || index > order[at - 1]!)
  const code = linesWith(lines, opening)[0]
  return {
    code: code === undefined ? undefined : textOf(code),
    isComplete: report.some(([kind]) => kind === "end"),
    tests: byTest.size,
    problems: [...problems, ...(problems.length > 0 ? [] : others)],
    tampered: [
      ...new Set([
        ...linesWith(lines, broken).map((line) => line.trim()),
        ...reported("tampered").map(([text]) => text!.trim()),
        ...(isInOrder || problems.length > 0 ? [] : ["the order of the tests"])
      ])
    ],
    wrong
  }
}
