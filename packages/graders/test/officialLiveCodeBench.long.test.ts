/**
 * The grader against the official code of LiveCodeBench on the same programs, where a copy of that is at hand: its
 * repository's folder in `DIVISI_LIVECODEBENCH`, and a Python, `python3` or the one in `DIVISI_PYTHON`. Where that
 * Python has numpy, functions that give numpy's scalars are graded with it.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import type { Sandbox } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
import { LocalPythonSandbox, PyodideSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { can } from "./atHand.ts"
import { folder } from "./folder.ts"
import { calling, fenced, printing } from "./programs.ts"

const repository = process.env.DIVISI_LIVECODEBENCH
const python = process.env.DIVISI_PYTHON ?? "python3"

interface Case {
  readonly code: string
  readonly tests: ReadonlyArray<readonly [input: string, output: string]>
  /** Absent for programs that print. */
  readonly function?: string
  /** Where a fair judge says otherwise than the official code, as documented in docs/lab/sandbox.md. */
  readonly differs?: true
}

const prints = (code: string, output: string, input = "", differs?: true): Case => ({
  code,
  tests: [[input, output]],
  ...(differs && { differs })
})

const gives = (result: string, output: string, input = "1"): Case => ({
  code: `class Solution:\n    def f(self, x):\n        return ${result}`,
  tests: [[input, output]],
  function: "f"
})

const cases: ReadonlyArray<Case> = [
  prints("print(7 ** 5000)", String(7n ** 5000n)),
  prints("print(len(str(7 ** 50000)))", "42255"),
  prints("a, b = map(int, input().split())\nprint(a + b)", "5", "2 3"),
  prints("import sys\nprint(5)\nsys.exit('Error none')", "5"),
  prints("import sys\nprint(5)\nsys.exit(1)", "5"),
  prints("print(5)\nraise ValueError", "5"),
  prints("print(float('inf'))", "Infinity"),
  prints("print('Infinity')", "inf"),
  prints("print('-inf')", "inf"),
  prints("print('\\x1f5\\x1f')", "5"),
  prints("print('\\ufeff5')", "5"),
  prints("print(0.1 + 0.2)", "0.3"),
  prints("print(sum([0.1] * 10))", "0.9999999999999999"),
  prints("print(sum([0.1] * 10))", "1.0"),
  prints("print(sum(x / 10 for x in range(7)))", "2.1"),
  prints("print(1, 2)", "1  2"),
  prints("print('a', 'b')", "a  b"),
  prints("print('1\\n\\n2')", "1\n2"),
  prints("print('1e3')", "1000"),
  prints("print('nan')", "NaN"),
  prints(
    "import math\nprint(math.sin(2.5), math.cos(2.5), math.tan(2.5))",
    "0.5984721441039564 -0.8011436155469337 -0.7470222972386603"
  ),
  prints("import math\nprint(math.atan2(3, 7), math.asin(0.3))", "0.40489178628508343 0.3046926540153975"),
  prints("for line in __import__('sys').stdin: print(line.strip())", "1\n2", "1\n2\n", true),
  prints("from __future__ import annotations\nprint(5)", "5", "", true),
  gives("__import__('decimal').Decimal('0.5')", "0.5"),
  gives("__import__('fractions').Fraction(1, 2)", "0.5"),
  gives("__import__('fractions').Fraction(1, 3)", "0.3333333333333333"),
  gives("[__import__('decimal').Decimal(3)]", "[3]"),
  gives("(1, 2)", "[1, 2]"),
  gives("[(1, 2)]", "[[1, 2]]"),
  gives("{'a': 1.0}", '{"a": 1}'),
  gives("{1: 'a'}", '{"1": "a"}'),
  gives("True", "1"),
  gives("{1, 2}", "[1, 2]"),
  gives("None", "null"),
  gives("10 ** 30", "1000000000000000000000000000000"),
  gives("10 ** 30", "1000000000000000000000000000001"),
  gives("10.0 ** 30", "1000000000000000019884624838656"),
  gives("float(x)", "1"),
  gives("sum([0.1] * 10)", "0.9999999999999999"),
  gives("x / 3", "0.3333333333333333"),
  gives("str(x)", "1"),
  gives("__import__('collections').Counter('aab')", '{"a": 2, "b": 1}'),
  gives("__import__('collections').deque([1])", "[1]")
]

/** What functions give with numpy, what they should give, and whether Python calls the two equal. */
const withNumpy: ReadonlyArray<readonly [result: string, output: string, right: boolean]> = [
  ["numpy.int64(3)", "3", true],
  ["numpy.int64(3)", "4", false],
  ["numpy.int8(-3)", "-3", true],
  ["numpy.uint64(2 ** 64 - 1)", "18446744073709551615", true],
  ["[numpy.int32(1), numpy.int64(2)]", "[1, 2]", true],
  ["(numpy.int32(1), numpy.int64(2))", "[1, 2]", true],
  ["numpy.float64(0.1) + numpy.float64(0.2)", "0.3", false],
  ["numpy.float64(0.5)", "0.5", true],
  ["numpy.float32(0.5)", "0.5", true],
  ["numpy.float16(0.25)", "0.25", true],
  ["[numpy.mean([1, 2])]", "[1.5]", true],
  ["numpy.bool_(True)", "true", true],
  ["numpy.bool_(False)", "true", false],
  ["numpy.int64(1)", "true", true],
  ["numpy.str_('ab')", '"ab"', true],
  ["{'a': numpy.int64(1)}", '{"a": 1}', true],
  ["{numpy.int64(1): 1}", '{"1": 1}', false],
  ["numpy.array([1, 2])", "[1, 2]", false],
  ["numpy.array([1, 2]).tolist()", "[1, 2]", true],
  ["list(numpy.array([1, 2]))", "[1, 2]", true],
  ["numpy.array(5)", "5", true],
  ["numpy.nan", "0", false]
]

const numpyCases: ReadonlyArray<Case> = withNumpy.map(([result, output]) => ({
  code: `import numpy\nclass Solution:\n    def f(self, x):\n        return ${result}`,
  tests: [["1", output]],
  function: "f"
}))

/** Python that asks the official code: 1 for right. */
const question = `
import importlib.util, json, os, sys, types
# As the module does that calls this one.
sys.set_int_max_str_digits(50000)
try: import numpy
except ImportError: sys.modules["numpy"] = types.ModuleType("numpy")
spec = importlib.util.spec_from_file_location("testing_util", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
write, leave = os.write, os._exit
verdicts = []
for case in json.load(open(sys.argv[2])):
    about = {"inputs": [one[0] for one in case["tests"]], "outputs": [one[1] for one in case["tests"]]}
    if "function" in case:
        about["fn_name"] = case["function"]
    child, parent = os.pipe()
    identity = os.fork()
    if identity == 0:
        try:
            results = module.run_test({"input_output": json.dumps(about)}, test=case["code"], timeout=6)[0]
            write(parent, b"1" if results and all(one > 0 for one in results) else b"0")
        finally:
            leave(0)
    os.close(parent)
    verdicts.append(os.read(child, 1) == b"1")
    os.waitpid(identity, 0)
print(json.dumps(verdicts))
`

const official = (cases: ReadonlyArray<Case>): ReadonlyArray<boolean> => {
  const place = path.join(repository!, "lcb_runner", "evaluation", "testing_util.py")
  const file = path.join(folder(), "cases.json")
  fs.writeFileSync(file, JSON.stringify(cases))
  return JSON.parse(
    execFileSync(python, ["-c", question, place, file], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
      .trim()
      .split("\n")
      .at(-1)!
  )
}

/** The grader's verdicts. */
const ours = (cases: ReadonlyArray<Case>, sandbox: Sandbox.Sandbox) => {
  const grader = CodeGrader.liveCodeBench(sandbox)
  return Effect.forEach(cases, (one) => {
    const task = one.function === undefined ? printing(...one.tests) : calling(one.function, ...one.tests)
    return Effect.map(grader.grade(task, fenced(one.code)), ({ correct }) => correct)
  })
}

describe("LiveCodeBench", () => {
  it.skipIf(repository === undefined)(
    "judges as its official code does (needs the repository in DIVISI_LIVECODEBENCH, and python3)",
    async () => {
      const expected = official(cases)
      const program = Effect.flatMap(PyodideSandbox.make(), (sandbox) => ours(cases, sandbox))
      const verdicts = await Effect.runPromise(Effect.scoped(program))
      const other = cases.filter(({ differs }, at) => (verdicts[at] === expected[at]) === (differs === true))
      assert.deepStrictEqual(
        other.map(({ code, tests }) => [code, tests[0]]),
        []
      )
    }
  )

  it.skipIf(!can(python, "-c", "import numpy"))(
    "takes numpy's scalars for what they are, as its official code does where that is at hand (needs numpy)",
    async () => {
      const sandbox = await Effect.runPromise(LocalPythonSandbox.makeUnsafe({ python }))
      const verdicts = await Effect.runPromise(ours(numpyCases, sandbox))
      const told = (right: ReadonlyArray<boolean>) =>
        withNumpy.map(([result, output], at) => [result, output, right[at]])
      assert.deepStrictEqual(
        told(verdicts),
        withNumpy.map((one) => [...one])
      )
      if (repository !== undefined) assert.deepStrictEqual(told(official(numpyCases)), told(verdicts))
    }
  )
})
