/**
 * No program gets credit by what it does to those who test it, what it waits is counted, and answers are taken as models
 * write them. Each attempt takes an interpreter of its own.
 */
import type * as Task from "@divisi/core/Task"
import type { Sandbox } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
import { PyodideSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { calling, fenced, printing, record, sums, taskOf } from "./programs.ts"

const scope = Scope.makeUnsafe()
let sandbox: Sandbox.Sandbox
beforeAll(async () => {
  sandbox = await Effect.runPromise(Scope.provide(PyodideSandbox.make(), scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

describe("LiveCodeBench", () => {
  const sum = printing(["2 3\n", "5\n"], ["10 -4\n", "6"])
  const live = (task: Task.Task, code: string, millis = 10_000) =>
    Effect.runPromise(
      CodeGrader.liveCodeBench(sandbox, { timeoutMillis: millis / PyodideSandbox.slowdown }).grade(task, fenced(code))
    )

  it("runs the program of an answer, in every form that models write it", async () => {
    const grader = CodeGrader.liveCodeBench(sandbox, { timeoutMillis: 10_000 / PyodideSandbox.slowdown })
    for (const [answer, rung] of sums) {
      const verdict = await Effect.runPromise(grader.grade(printing(["2 3\n", "5"]), answer))
      assert.strictEqual(verdict.rung, rung, answer)
    }
  })

  it("calls functions with their arguments, in every form that models write them", async () => {
    const task = calling("pick", ["[3, 1, 2]\n1", "[1]"], ['["b", "a"]\n2', '["a", "b"]'])
    const right =
      "class Solution:\n  def pick(self, xs: List[int], n: int) -> List[int]:\n    print('debug')\n    return sorted(xs)[:n]"
    assert.isTrue((await live(task, right.replace("sorted(xs)[:n]", "tuple(sorted(xs)[:n])"))).correct)
    assert.isTrue((await live(task, "def pick(xs, n): return sorted(xs)[:n]")).correct)
    const verdicts = [
      [right.replace("pick", "choose"), "runtime-error"],
      [right.replace("print('debug')", "sys.exit(0)"), "runtime-error"],
      [right.replace("sorted(xs)[:n]", "set(xs)"), "wrong-answer"]
    ] as const
    for (const [code, rung] of verdicts) assert.deepInclude(await live(task, code), { correct: false, rung }, code)
  })

  it("says which limit a program ran into", async () => {
    const rungs = [
      ["while True: pass", "time-limit"],
      ["x = []\nwhile True: x.append('a' * 10 ** 7)", "memory-limit"],
      ["while True: print('a' * 1000)", "output-limit"]
    ] as const
    for (const [code, rung] of rungs) {
      const verdict = await live(sum, code, rung === "time-limit" ? 1500 : 10_000)
      assert.deepInclude(verdict, { correct: false, rung }, code)
    }
  })

  it("takes what the official runner takes for granted", async () => {
    for (const code of [
      "if __name__ == '__main__':\n  print(sum(map(int, input().split())))",
      "print(reduce(add, map(int, stdin.readline().split())))",
      "import sys\nprint(sum(map(int, input().split())))\nsys.exit(1)",
      "print(sum(map(int, input().split())))\nexit()",
      "def main():\n  global total\n  total = sum(map(int, input().split()))\n  print(total)\nmain()",
      "import threading\ndef main(): print(sum(map(int, input().split())))\nthreading.stack_size(2 ** 27)\nthreading.Thread(target=main).start()"
    ]) {
      assert.isTrue((await live(sum, code)).correct, code)
    }
  })

  it("gives no credit for tricks", async () => {
    const task = calling("f", ["1", "[2]"])
    const tricks = [
      "class All:\n  def __eq__(self, other): return True\nclass Solution:\n  def f(self, x): return All()",
      "class All(list):\n  def __eq__(self, other): return True\nclass Solution:\n  def f(self, x): return All()",
      'import json\njson.dumps = lambda *a: \'["l", [["i", "0"]]]\'\nclass Solution:\n  def f(self, x): return 0',
      "import builtins\nbuiltins.isinstance = lambda *a: True\nclass Solution:\n  def f(self, x): return 0",
      "import sys\nsys.stdout = None\nsys.exit = lambda *a: None\nclass Solution:\n  def f(self, x): return 0",
      "import os\nclass Solution:\n  def f(self, x):\n    print('PASS', 'all tests pass', True)\n    os._exit(0)",
      "import sys\nclass Solution:\n  def f(self, x):\n    order = sys._getframe(1).f_locals['order']\n    print(order)\n    print('\\n' + order['marker'] + 'true', flush=True)\n    return order",
      "import builtins\nbuiltins.print = lambda *a, **k: None\nclass Solution:\n  def f(self, x): return [3]"
    ]
    for (const trick of tricks) assert.isFalse((await live(task, trick)).correct, trick)
    assert.isTrue((await live(task, "class Solution:\n  def f(self, x): return [2]")).correct)
    const shadows = ["print = lambda *a: None\nprint(5)", "import sys\nsys.stdout.write = lambda *a: 5\nprint('5')"]
    for (const trick of shadows) assert.isFalse((await live(printing(["", "5"]), trick)).correct, trick)
  })

  it("counts the time that a program waits as a plain interpreter would", async () => {
    const waits = (seconds: number) => `import time\ntime.sleep(${seconds})\nprint(5)`
    const task = printing(["", "5"])
    const grader = CodeGrader.liveCodeBench(sandbox, { timeoutMillis: 1000 })
    assert.deepInclude(await Effect.runPromise(grader.grade(task, fenced(waits(1.5)))), {
      correct: false,
      rung: "time-limit"
    })
    const clocks = `import time
clocks = [time.time, time.monotonic, time.perf_counter]
begin = [clock() for clock in clocks]
time.sleep(1)
print(5 if all(clock() - then < 1.9 for clock, then in zip(clocks, begin)) else 0)`
    assert.isTrue((await live(task, clocks)).correct)
  })
})

describe("BigCodeBench", () => {
  const right = "import os\ndef task_func(x):\n    return 2 * x"

  /** One grader for all: it runs a reference once. */
  let grader: ReturnType<typeof CodeGrader.bigCodeBench>
  beforeAll(() => {
    grader = CodeGrader.bigCodeBench(sandbox, { timeoutMillis: 20_000 })
  })
  const unit = (answer: string) => Effect.runPromise(grader.grade(taskOf(record), answer))

  it("gives credit for functions that pass all tests, however the answer is written", async () => {
    const within = `try:
    import numpy
except ImportError:
    from operator import mul
two = 1
if two == 1:
    import os
    two += 1
def task_func(x):
    return mul(x, two)`
    const helper = "def twice(x):\n    return 2 * x\nclass Unused: pass\ndef task_func(x):\n    return twice(x)"
    const answers = [
      right,
      `Sure, here:\n${right}\nIt doubles.`,
      fenced(`${helper}\nif __name__ == "__main__":\n    print(task_func(input()))\nraise SystemExit(1)`),
      fenced(within),
      `\`\`\`python\nprint('example')\n\`\`\`\nand\n${fenced(right)}`
    ]
    for (const answer of answers) assert.isTrue((await unit(answer)).correct, answer)
  })

  it("gives no credit for tampering with what tests it", async () => {
    const tricks = [
      "import unittest\nunittest.TestCase.assertEqual = lambda *a: None",
      "import unittest\nunittest.TestCase.run = lambda self, result: result",
      "import unittest\nunittest.TestResult.addFailure = unittest.TestResult.addError = lambda *a: None",
      "import unittest\nunittest.case._Outcome.testPartExecutor.__wrapped__.__code__ = (lambda self, *a, **k: (yield)).__code__",
      "import unittest\nclass Empty:\n  def __init_subclass__(cls): pass\nunittest.TestCase = Empty",
      "import sys, types\nsys.modules['unittest'] = types.ModuleType('unittest')\nsys.modules['unittest'].TestCase = object",
      "import builtins\nbuiltins.AssertionError = type('Never', (BaseException,), {})",
      "import os\nos._exit(0)",
      "import sys\nsys.exit(0)",
      "import sys\nprint('OK')\nsys.stdout = sys.__stdout__ = None",
      "import atexit, os\natexit.register(os._exit, 0)",
      "class TestCases:\n  pass"
    ]
    // At the top level a trick would be left out with all that the function does not need.
    for (const [index, trick] of tricks.entries()) {
      const hidden = `def apply():\n${trick.replace(/^/gm, "    ")}\ntricked = apply()\ndef task_func(x):\n    tricked\n    return 0`
      const verdict = await unit(fenced(hidden))
      assert.isFalse(verdict.correct, trick)
      // The first three would get credit if nobody looked.
      if (index < 3) assert.strictEqual(verdict.rung, "tampered", trick)
      const late = `def task_func(x):\n${trick.replace(/^/gm, "    ")}\n    return 0`
      assert.isFalse((await unit(fenced(late))).correct, trick)
    }
    const skipping = "import unittest\ndef task_func(x):\n    raise unittest.SkipTest('no')"
    assert.isFalse((await unit(fenced(skipping))).correct)
    assert.isTrue((await unit(fenced(right))).correct)
  })

  it("gives no verdict against an answer where the reference fails as well", async () => {
    const task = { test: `import pandas\n${record.test}` }
    const error = await Effect.runPromise(
      Effect.flip(CodeGrader.bigCodeBench(sandbox).grade(taskOf({ ...record, ...task }), fenced(right)))
    )
    assert.include(error.message, "reference solution fails")
    assert.include(error.message, "No module named 'pandas'")
  })
})
