import fs from "node:fs"
import path from "node:path"
import * as Task from "@divisi/core/Task"
import { Graders, Sandbox } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
import { PyodideSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it, vi } from "vitest"
import * as Called from "../src/code/called.ts"
import * as PythonValue from "../src/code/PythonValue.ts"
import * as Printed from "../src/code/printed.ts"
import { candidates, choosing } from "../src/code/programText.ts"
import { calling, fenced, printing, record, sums, taskOf } from "./programs.ts"

// Every program gets a process, which takes a while on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const scope = Scope.makeUnsafe()
let sandbox: Sandbox.Sandbox
beforeAll(async () => {
  sandbox = await Effect.runPromise(Scope.provide(PyodideSandbox.make(), scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(effect)

const live = (task: Task.Task, code: string) =>
  run(CodeGrader.liveCodeBench(sandbox, { timeoutMillis: 10_000 / PyodideSandbox.slowdown }).grade(task, fenced(code)))

describe("the program of an answer", () => {
  it("is the last block that parses and reads its input, in any fence or none", async () => {
    const program = `${choosing}
import contextlib, io, json, sys
def printed(texts):
    program = choose(texts, None)
    if program is None:
        return None
    sys.stdin = io.StringIO("2 3\\n")
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(program, {"__name__": "__main__"})
    return output.getvalue()
print(json.dumps([printed(texts) for texts in json.loads(__order__)]))`
    const order = JSON.stringify(sums.map(([answer]) => candidates(answer)))
    const execution = await run(Sandbox.run(sandbox, { code: program, order, limits: { wallMillis: 60_000 } }))
    const printed = JSON.parse(execution.type === "finished" ? execution.stdout.trim().split("\n").at(-1)! : "[]")
    const rungs: typeof sums = sums.map(([answer], at) => [
      answer,
      printed[at] === null ? "unparsed" : printed[at] === "5\n" ? "tests" : "wrong-answer"
    ])
    assert.deepStrictEqual(rungs, sums)
  })

  it("is what is graded: a closed fence as it is, another part as Python chooses it", async () => {
    const task = printing(["2 3\n", "5"])
    const grader = CodeGrader.liveCodeBench(sandbox, { timeoutMillis: 10_000 / PyodideSandbox.slowdown })
    for (const at of [3, 6, 7, 15]) {
      const [answer, rung] = sums[at]!
      assert.strictEqual((await run(grader.grade(task, answer))).rung, rung, answer)
    }
  })
})

describe("the function of an answer", () => {
  const code = "import math\n\ndef area(r):\n    return math.pi * r * r"
  const indented = (text: string) => text.replace(/^(?=.)/gm, "    ")
  const session = `>>> import math\n>>> def area(r):\n...     return math.pi * r * r\n...\n>>> area(1)\n3.14`
  const usage = "print(area(2))  # 12.57"
  const answers: ReadonlyArray<readonly [kind: string, answer: string]> = [
    ["a fence of tildes", `~~~py\n${code}\n~~~`],
    ["a fence that is not closed", `Sure:\n\`\`\`python3\n${code}`],
    ["no fence", `${code}`],
    ["no fence, prose around it", `Here you go.\n\n${code}\n\nIt runs in constant time.`],
    ["an indented block", `The function:\n\n${indented(code)}\n\nThat's it.`],
    ["a fence in a list", `1. First:\n\n   \`\`\`python\n${code.replace(/^(?=.)/gm, "   ")}\n   \`\`\`\n2. Then rest.`],
    ["usage after it", `\`\`\`python\n${code}\n\`\`\`\nUsage:\n\`\`\`python\n${usage}\n\`\`\``],
    ["usage after it, without a fence", `\`\`\`python\n${code}\n\`\`\`\nUsage:\n${usage}`],
    ["usage before it", `You call it so:\n\`\`\`\n${usage}\n\`\`\`\n\`\`\`\n${code}\n\`\`\``],
    ["output after it", `\`\`\`Python\n${code}\n\`\`\`\nOutput:\n\`\`\`\n12.57\n\`\`\``],
    ["only the output in a fence", `${code}\n\nOutput:\n\`\`\`\n12.57\n\`\`\``],
    ["a shell command after it", `\`\`\`py\n${code}\n\`\`\`\n\`\`\`bash\npython area.py\n\`\`\``],
    [
      "a shorter final version",
      `Draft:\n\`\`\`python\n${code}\n# slow\nx = area(1)\n\`\`\`\nFinal:\n\`\`\`python\n${code}\n\`\`\``
    ],
    [
      "a final version that does not parse",
      `\`\`\`python\n${code}\n\`\`\`\nOr:\n\`\`\`python\ndef area(r)\n    return …\n\`\`\``
    ],
    ["a block that the next one ends", `\`\`\`python\nimport math\n\`\`\`python\n${code}\n\`\`\``],
    ["prose within the fence", `\`\`\`python\nHere is the code:\n${code}\nHope this helps!\n\`\`\``],
    ["a session", `\`\`\`pycon\n${session}\n\`\`\``],
    [
      "a session of IPython",
      `\`\`\`ipython\nIn [1]: import math\nIn [2]: def area(r):\n   ...:     return math.pi * r * r\nIn [3]: area(1)\nOut[3]: 3.14\n\`\`\``
    ],
    ["an example in a docstring", `\`\`\`python\n"""\n>>> round(area(1), 2)\n3.14\n"""\n${code}\n\`\`\``],
    ["another label", `\`\`\`text\n${code}\n\`\`\``],
    ["a string of JSON", JSON.stringify({ code })],
    ["a tag", `<code>\n${code}\n</code>`]
  ]

  it("is the last definition that parses, wherever it is", async () => {
    const program = `${choosing}
import json
def value(text):
    names = {}
    exec(text or "", names)
    return "area" in names and round(names["area"](2), 2)
print(json.dumps([value(choose(texts, "area")) for texts in json.loads(__order__)]))`
    const order = JSON.stringify(answers.map(([, answer]) => candidates(answer)))
    const execution = await run(Sandbox.run(sandbox, { code: program, order, limits: { wallMillis: 60_000 } }))
    const values = JSON.parse(execution.type === "finished" ? execution.stdout.trim().split("\n").at(-1)! : "[]")
    const wrong = answers.flatMap(([kind], index) => (values[index] === 12.57 ? [] : [[kind, values[index]]]))
    assert.deepStrictEqual(wrong, [])
  })
})

describe("what is printed", () => {
  it("is compared line by line, numbers by their values", () => {
    const same = [
      ["5\n", "5"],
      [" 5 \n 6 ", "5\n6"],
      ["1.50 2", "1.5 2.0"],
      ["1e3", "1000"],
      ["-0", "0"],
      ["0.10", ".1"],
      ["12345678901234567890.0", "12345678901234567890"],
      ["YES", "YES"]
    ] as const
    for (const [printed, expected] of same) assert.isTrue(Printed.isSame(printed, expected), printed)
    const different = [
      ["5\n\n6", "5\n6"],
      ["5 6", "5\n6"],
      ["yes", "YES"],
      ["0.1000001", "0.1"],
      ["12345678901234567891", "12345678901234567890"],
      ["", "0"],
      ["1 2", "1 2 3"],
      ["a  b", "a b"],
      ["nan", "NaN"],
      ["0x10", "16"]
    ] as const
    for (const [printed, expected] of different) assert.isFalse(Printed.isSame(printed, expected), printed)
  })
})

describe("what is returned", () => {
  const compare = (result: PythonValue.PythonValue, expected: string) =>
    Called.isExpected(result, Result.getOrThrow(PythonValue.fromJson(expected)))

  it("is compared as Python compares it", () => {
    const same: ReadonlyArray<readonly [PythonValue.PythonValue, string]> = [
      [["i", "5"], "5"],
      [["f", "5.0"], "5"],
      [["i", "5"], "5.0"],
      [true, "1"],
      [["i", "1"], "true"],
      [["i", "-ffffffffffffffffff"], "-4722366482869645213695"],
      [["t", [["i", "1"]]], "[1]"],
      [["l", ["a", null]], '["a", null]'],
      [["d", [["a", ["l", []]]]], '{"a": []}'],
      [["f", "0.1"], "0.1"]
    ]
    for (const [result, expected] of same) assert.isTrue(compare(result, expected), expected)
    const different: ReadonlyArray<readonly [PythonValue.PythonValue, string]> = [
      [["f", "0.30000000000000004"], "0.3"],
      [["l", [["t", [["i", "1"]]]]], "[[1]]"],
      [["d", [[["i", "1"], "a"]]], '{"1": "a"}'],
      [["o", "AlwaysEqual"], "1"],
      ["1", "1"],
      [null, "0"],
      [["i", "fffffffffffffffffe"], "4722366482869645213695"],
      [["l", []], "{}"],
      [["f", "nan"], "0"]
    ]
    for (const [result, expected] of different) assert.isFalse(compare(result, expected), expected)
  })
})

describe("LiveCodeBench", () => {
  const sum = printing(["2 3\n", "5\n"], ["10 -4\n", "6"])

  it("gives credit for programs that pass all tests, and says what others ran into", async () => {
    const right = await live(sum, "a, b = map(int, input().split())\nprint(a + b)")
    assert.deepInclude(right, { correct: true, rung: "tests", explanation: "all 2 tests pass" })
    const rungs = [
      ["import numpy\nprint(5)", "runtime-error"],
      ["import sys\nsys.exit('ModuleNotFoundError: No module named \\'numpy\\'')", "wrong-answer"],
      ["print(5)", "wrong-answer"],
      ["1 / 0", "runtime-error"],
      ["print(5", "runtime-error"]
    ] as const
    for (const [code, rung] of rungs) assert.deepInclude(await live(sum, code), { correct: false, rung }, code)
    const none = await run(CodeGrader.liveCodeBench(sandbox).grade(sum, "I cannot."))
    assert.deepInclude(none, { correct: false, rung: "unparsed" })
    assert.include((await live(sum, "print(5)")).explanation, "test 2")
  })

  it("calls functions with their arguments", async () => {
    const task = calling("pick", ["[3, 1, 2]\n1", "[1]"], ['["b", "a"]\n2', '["a", "b"]'])
    const right =
      "class Solution:\n  def pick(self, xs: List[int], n: int) -> List[int]:\n    print('debug')\n    return sorted(xs)[:n]"
    assert.isTrue((await live(task, right)).correct)
    const wrong = right.replace("sorted(xs)[:n]", "xs[:n]")
    assert.deepInclude(await live(task, wrong), { correct: false, rung: "wrong-answer" })
  })

  it("gives no verdict when the fault is not the program's", async () => {
    const dead: Sandbox.Sandbox = {
      name: "dead",
      slowdown: 1,
      run: () => Effect.fail(new Sandbox.SandboxError({ sandbox: "dead", reason: "failed", detail: "it is dead" }))
    }
    const detail = async (grader: Effect.Effect<unknown, { readonly message: string }>) =>
      (await run(Effect.flip(grader))).message
    assert.include(await detail(CodeGrader.liveCodeBench(dead).grade(sum, fenced("print(5)"))), "it is dead")
    const grade = (task: Task.Task, code: string) => CodeGrader.liveCodeBench(sandbox).grade(task, fenced(code))
    assert.include(await detail(grade(taskOf({ public_test_cases: [] }), "print(5)")), "no tests")
    const unreadable = taskOf({ public_test_cases: [], private_test_cases: "AAAA" })
    assert.include(await detail(grade(unreadable, "print(5)")), "neither JSON nor compressed")
    assert.include(await detail(grade(Task.make({ question: "?" }), "print(5)")), "no LiveCodeBench tests")
  })
})

/** One grader for all that choose nothing: it runs a reference once. */
let bigCodeBench: ReturnType<typeof CodeGrader.bigCodeBench>
beforeAll(() => {
  bigCodeBench = CodeGrader.bigCodeBench(sandbox, { timeoutMillis: 20_000 })
})

const unit = (answer: string) => run(bigCodeBench.grade(taskOf(record), answer))

describe("BigCodeBench", () => {
  const right = "import os\ndef task_func(x):\n    return 2 * x"

  it("gives credit for a function that passes all tests", async () => {
    assert.isTrue((await unit(right)).correct)
  })

  it("in the last block that defines it", async () => {
    const draft = `${right.replace("2 *", "3 *")}\n\nprint(task_func(1), task_func(2))`
    assert.isTrue((await unit(`${fenced(draft)}\n~~~py\n${right}\n~~~\n${fenced("print(task_func(2))")}`)).correct)
  })

  it("and none for others", async () => {
    const verdict = await unit(fenced(right.replace("2 *", "3 *")))
    assert.deepInclude(verdict, { correct: false, rung: "tests" })
    assert.include(verdict.explanation, "2 of 2 fail")
    assert.isFalse((await unit(fenced("def other(x):\n    return 2 * x"))).correct)
    assert.isFalse((await unit("I do not know.")).correct)
  })
})

it("graders of programs have names", () => {
  for (const name of ["livecodebench", "bigcodebench"]) assert.strictEqual(Graders.named(name)?.name, name)
  assert.isTrue(fs.existsSync(path.join(import.meta.dirname, "..", "src", "sandbox", "pyodide.child.ts")))
})
