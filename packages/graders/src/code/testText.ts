/**
 * Removes expected values from a test before a program runs alongside it.
 *
 * `self.assertEqual(task_func(1), 2)` becomes `__note__("…", task_func(1))`, and the 2 stays with the judge. A program
 * can neither read it in its interpreter nor fake a passing test there. Only literals are withheld, in assertions that
 * every run of the test reaches. Other assertions remain, each preceded by `__see__`, which inspects the values that
 * decide it. The start and the end of each test are recorded as well.
 *
 * The rewriting runs in a separate interpreter that untrusted programs never share.
 */
import { encoder, type PythonValue } from "./PythonValue.ts"

/** An event that a test run must record, in order of occurrence. */
export interface Point {
  readonly test: string
  /** Identifies the assertion, even if other information is withheld. */
  readonly key: string
  readonly kind: "start" | "end" | "assertion"
  /** The `unittest` method, for assertions. */
  readonly assertion?: string
  /** The withheld literal. `isFirst` is set if it was the first argument. */
  readonly known?: PythonValue
  readonly isFirst?: boolean
  readonly places?: PythonValue
  readonly delta?: PythonValue
}

/** The rewritten tests, and the points that were withheld from them. */
export interface TestText {
  /** The rewritten source. Each token is `prefix` followed by the index of its point. */
  readonly text: string
  readonly points: ReadonlyArray<Point>
}

/**
 * The rewriting program. Reads `test`, `prefix` and the keys to leave `inside` from its order, and prints a {@link
 * TestText}.
 */
export const rewriter = `${encoder}
import ast, builtins, collections, json

order = json.loads(__order__)
encode, inside = make_encode(), set(order["inside"])
two = {"assertEqual", "assertEquals", "assertNotEqual", "assertListEqual", "assertDictEqual", "assertTupleEqual",
       "assertSetEqual", "assertCountEqual", "assertMultiLineEqual", "assertIn", "assertNotIn", "assertGreater",
       "assertGreaterEqual", "assertLess", "assertLessEqual", "assertAlmostEqual", "assertAlmostEquals"}
one = {"assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone"}
tree, points = ast.parse(order["test"]), []

def is_plain(value):
    kind = value[0] if isinstance(value, list) else None
    if kind == "d":
        return all(is_plain(part) for pair in value[1] for part in pair)
    return kind != "o" and (kind not in ("l", "t", "s") or all(map(is_plain, value[1])))

def literal(node):
    try:
        value = encode(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return [value] if is_plain(value) else None

def leaves(node):
    # Whether a test may end here, or skip what follows.
    return any(isinstance(part, (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await))
               or isinstance(part, ast.Attribute) and part.attr == "skipTest" for part in ast.walk(node))

def swallows(node):
    text = " ".join(ast.dump(item.context_expr) for item in node.items).lower()
    return "raises" in text or "suppress" in text

def straight(body):
    # The statements that every run comes to, with the list that each is in.
    for node in list(body):
        yield body, node
        if leaves(node):
            return False
        if isinstance(node, ast.With) and not swallows(node):
            if not (yield from straight(node.body)):
                return False
    return True

def assertion(node):
    call = node.value if isinstance(node, ast.Expr) else None
    is_own = (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
              and isinstance(call.func.value, ast.Name) and call.func.value.id == "self")
    return call if is_own and not any(isinstance(part, ast.Starred) for part in call.args) else None

def known_names(function):
    stored = collections.Counter(part.id for part in ast.walk(function)
                                 if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load))
    named = {}
    for body, node in straight(function.body):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value, name = literal(node.value), node.targets[0].id
            if value and stored[name] == 1:
                named[name] = value, body, node
    return named

def describe(call, named):
    # What can be kept back of an assertion: (the expression that is left, what is known, names that are used up).
    if not isinstance(call, ast.Call) or any(word.arg not in ("msg", "places", "delta") for word in call.keywords):
        return None
    name, words = call.func.attr, {word.arg: literal(word.value) for word in call.keywords if word.arg != "msg"}
    if None in words.values():
        return None
    known = {"assertion": name, **{key: value[0] for key, value in words.items()}}
    if name in one and 1 <= len(call.args) <= 2:
        left = call.args[0]
        if name in ("assertTrue", "assertFalse"):
            left = ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), left))
        else:
            left = ast.Compare(left, [ast.Is()], [ast.Constant(None)])
        return (left, known, None) if not literal(call.args[0]) else None
    if name not in two or not 2 <= len(call.args) <= (2 if "Almost" in name else 3):
        return None
    values = [literal(part) or (named[part.id][0] if isinstance(part, ast.Name) and part.id in named else None)
              for part in call.args[:2]]
    if (values[0] is None) == (values[1] is None):
        return None
    first = values[0] is not None
    fixed = call.args[0 if first else 1]
    known.update(known=values[0 if first else 1][0], isFirst=first)
    return call.args[1 if first else 0], known, fixed.id if isinstance(fixed, ast.Name) else None

def choose(function, overridden):
    # Names whose every use is kept back go along with it; one that is used otherwise stays.
    named = known_names(function)
    loads = collections.Counter(part.id for part in ast.walk(function)
                                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load))
    while True:
        chosen, used = [], collections.Counter()
        for at, (body, node) in enumerate(straight(function.body)):
            call = assertion(node)
            found = describe(call, named) if call and call.func.attr not in overridden else None
            key = function.name + ":" + str(at)
            if found and key not in inside:
                chosen.append((body, node, key, found))
                used[found[2]] += 1
        kept = {name: one for name, one in named.items() if used[name] == loads[name]}
        if len(kept) == len(named):
            return chosen, named
        named = kept

def note(test, key, kind, value, **more):
    token = ast.Constant(order["prefix"] + str(len(points)) + ".")
    points.append({"test": test, "key": key, "kind": kind, **more})
    return ast.Expr(ast.Call(ast.Name("__note__", ast.Load()), [token, value], []))

def rewrite(function, overridden):
    chosen, named = choose(function, overridden)
    start = note(function.name, function.name + ":start", "start", ast.Constant(None))
    for body, node, key, (left, known, _) in chosen:
        body[body.index(node)] = note(function.name, key, "assertion", left, **known)
    for _, body, node in named.values():
        body[body.index(node)] = ast.Pass()
    function.body.insert(0, start)
    if not any(map(leaves, function.body)):
        function.body.append(note(function.name, function.name + ":end", "end", ast.Constant(None)))

class Watched(ast.NodeTransformer):
    def visit_Call(self, node):
        self.generic_visit(node)
        func = node.func
        if (isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
                and func.attr.startswith(("assert", "fail")) and node.args
                and not any(isinstance(part, ast.Starred) for part in node.args)):
            node.args = [ast.Starred(ast.Call(ast.Name("__see__", ast.Load()), node.args, []), ast.Load())]
        return node

    def visit_With(self, node):
        # How a context ends is decided behind its body.
        node.body = [self.visit(part) for part in node.body]
        node.body.append(ast.Expr(ast.Call(ast.Name("__see__", ast.Load()), [], [])))
        return node

classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
overridden = {part.name for node in classes for part in node.body if isinstance(part, ast.FunctionDef)}
# Builtins that the tests use as such, which the program's own names must not stand for.
plain = {name for name, value in vars(builtins).items() if callable(value) and not name.startswith("_")}
plain -= {"open", "print", "input", "exit", "quit", "super", "globals", "locals", "vars", "dir", "eval", "exec"}
plain -= {part.id for part in ast.walk(tree) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
plain -= {part.arg for part in ast.walk(tree) if isinstance(part, ast.arg)}
plain -= {part.name for part in ast.walk(tree) if isinstance(part, (ast.FunctionDef, ast.ClassDef))}
plain -= {part.asname or part.name for part in ast.walk(tree) if isinstance(part, ast.alias)}
plain = {name for name in plain if "builtins." + name not in order["test"]}
for node in classes:
    functions = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    if node.name == "TestCases":
        for name in sorted(functions):
            if name.startswith("test") and "expectedFailure" not in "".join(map(ast.dump, functions[name].decorator_list)):
                rewrite(functions[name], overridden)
    for function in functions.values():
        function.body = [Watched().visit(part) for part in function.body]
        # Bound where the function is made: no global name of the program's comes between.
        bound = {name: ast.Name(name, ast.Load()) for name in ("__note__", "__see__")}
        for part in ast.walk(function):
            if isinstance(part, ast.Name) and part.id in plain:
                bound[part.id] = ast.Attribute(ast.Name("__plain__", ast.Load()), part.id, ast.Load())
        for name, value in bound.items():
            function.args.kwonlyargs.append(ast.arg(name))
            function.args.kw_defaults.append(value)

print(json.dumps({"text": ast.unparse(ast.fix_missing_locations(tree)), "points": points}))
`
