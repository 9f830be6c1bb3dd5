/**
 * Runs a solution and its tests (`unittest`) in one interpreter, as BigCodeBench does, and reports what happened.
 *
 * A solution that shares an interpreter with its tests can tamper with them. So this checks that every test in the text
 * has run, that none was skipped unless the text says so, that `unittest` and the builtins are what they were, and that
 * assertions that must fail do fail.
 */

/** What the driver found out. */
export interface Results {
  /** The program that was found in the answer; absent when there was none. */
  readonly code?: string | undefined
  /** How many tests the text of the tests has. */
  readonly expected: number
  readonly run: number
  /** The tests that did not pass: name, and last line of what went wrong. */
  readonly problems: ReadonlyArray<readonly [string, string]>
  /** What the solution changed of the interpreter that it must not. */
  readonly tampered: ReadonlyArray<string>
}

/** The program: reads what to do from its input. */
export const driver = String.raw`
def drive():
    import ast, builtins, io, json, os, sys, time, types, unittest, unittest.mock
    dumps, write = json.dumps, os.write
    order = json.loads(sys.stdin.read())
    marker = order["marker"]

    # ------------------------------------------------------------------ the program in a text

    def parses(text):
        try:
            ast.parse(text)
            return True
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return False

    def size(text):
        return sum(1 for line in text.splitlines() if line.strip())

    def fenced(text):
        lines = text.split("\n")
        marks = [at for at, line in enumerate(lines) if line.strip().startswith("${"```"}")]
        return ["\n".join(lines[a + 1 : b]) for a, b in zip(marks, marks[1:])]

    def longest(text):
        # As many lines as parse together; the time for it is bounded.
        lines, best, ends = text.split("\n")[:400], "", time.monotonic() + 5
        for start in range(len(lines)):
            for end in range(len(lines), start, -1):
                piece = "\n".join(lines[start:end])
                if size(piece) <= size(best) or time.monotonic() > ends:
                    break
                if parses(piece):
                    best = piece
                    break
        return best

    def extract(text, entry):
        pieces = [piece for piece in [text, *fenced(text)] if piece.strip() and parses(piece)]
        defining = [piece for piece in pieces if "def " + entry in piece]
        return max(defining or pieces, key=size, default=None) or longest(text)

    def names(node):
        return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}

    def defined(node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return {node.name}
        if isinstance(node, ast.Assign):
            return {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
        if isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Name):
            return {node.target.id}
        return set()

    def sanitize(text, entry):
        code = extract(text, entry)
        body = ast.parse(code).body
        wanted, todo = set(), [entry]
        while todo:
            name = todo.pop()
            if name in wanted:
                continue
            wanted.add(name)
            for node in body:
                if name in defined(node):
                    todo.extend(names(node))
        lines = code.split("\n")
        kept = []
        for node in body:
            if isinstance(node, (ast.Import, ast.ImportFrom)) or defined(node) & wanted:
                first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
                kept.extend(lines[first - 1 : node.end_lineno])
        return "\n".join(kept)

    # ------------------------------------------------------------------ what must stay as it is

    def surface():
        found = {"builtins." + name: value for name, value in vars(builtins).items() if name != "_"}
        for name, module in list(sys.modules.items()):
            if name != "unittest" and not name.startswith("unittest."):
                continue
            for key, value in list(vars(module).items()):
                if callable(value):
                    found[name + "." + key] = value
                if isinstance(value, type) and value.__module__.startswith("unittest"):
                    found.update({name + "." + key + "." + inner: one for inner, one in list(vars(value).items())
                                  if isinstance(one, (types.FunctionType, classmethod, staticmethod, property))})
        for name, value in list(found.items()):
            if isinstance(value, types.FunctionType):
                found[name + "()"] = value.__code__
        return found

    def changes(before, after):
        # Modules of unittest that are first imported later are new, and not changed.
        gone = object()
        return sorted(name for name, value in before.items() if after.get(name, gone) is not value)

    class Certain(unittest.TestCase):
        def runTest(self):
            pass

    def soft():
        certain = Certain()
        def raises(kind, action, *arguments):
            try:
                action(*arguments)
            except kind:
                return False
            return True
        wrong = AssertionError
        checks = {
            "assertEqual": raises(wrong, certain.assertEqual, 1, 2),
            "assertTrue": raises(wrong, certain.assertTrue, False),
            "assertFalse": raises(wrong, certain.assertFalse, True),
            "assertIn": raises(wrong, certain.assertIn, 1, []),
            "assertIsInstance": raises(wrong, certain.assertIsInstance, 1, str),
            "assertAlmostEqual": raises(wrong, certain.assertAlmostEqual, 1, 2),
            "assertRaises": raises(wrong, certain.assertRaises, ValueError, int),
            "fail": raises(wrong, certain.fail),
        }
        return [name for name, passed in checks.items() if passed]

    # ------------------------------------------------------------------ the run

    def tests_in(text):
        return [one.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == "TestCases"
                for one in node.body if isinstance(one, ast.FunctionDef) and one.name.startswith("test")]

    def last(trace):
        lines = [line for line in trace.strip().splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""

    def report():
        code = order.get("code")
        if code is None:
            code = sanitize(order["answer"], order["entry"])
        if not code or not code.strip():
            return {"expected": 0, "run": 0, "problems": [], "tampered": []}
        test = order["test"]
        expected = len(set(tests_in(test)))
        may_skip = "skip" in test.lower()
        loader, outcome, before = unittest.TestLoader(), unittest.TestResult(), surface()
        load, wanted = loader.loadTestsFromTestCase, unittest.TestCase
        module = types.ModuleType("__test__")
        vars(module).update(__file__="__test__.py", sys=sys, os=os, environ=os.environ)
        sys.modules["__test__"] = module
        problems, run = [], 0
        silence = io.StringIO()
        streams = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = silence
        try:
            exec(compile(order["calibration"] + code, "solution.py", "exec", dont_inherit=True), vars(module))
            exec(compile(test, "__test__.py", "exec", dont_inherit=True), vars(module))
            cases = module.TestCases
            if not issubclass(cases, wanted):
                raise TypeError("TestCases is no TestCase")
            load(cases).run(outcome)
            run = outcome.testsRun
            bad = [*outcome.failures, *outcome.errors]
            if not may_skip:
                bad += outcome.skipped
            bad += [(case, "it should have failed") for case in outcome.unexpectedSuccesses]
            problems = [[str(case), last(trace)] for case, trace in bad]
        except BaseException as error:
            problems = [["(loading)", (type(error).__name__ + ": " + str(error))[:300]]]
        finally:
            sys.stdout, sys.stderr = streams
        return {"code": code, "expected": expected, "run": run, "problems": problems[:50],
                "tampered": [*changes(before, surface()), *soft()][:20]}

    try:
        result = report()
    except BaseException as error:
        result = {"expected": 0, "run": 0, "problems": [["(extraction)", type(error).__name__]], "tampered": []}
    text = ("\n" + marker + dumps(result) + "\n").encode()
    while text:
        text = text[write(1, text):]

drive()
`
