/**
 * No program gets credit by what it does to those who test it, and what it waits is counted. Each attempt takes an
 * interpreter of its own.
 */
import type * as Task from "@divisi/core/Task"
import { CodeGrader } from "@divisi/graders/code"
import type * as Sandbox from "@divisi/graders/Sandbox"
import { PyodideSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { calling, fenced, printing, record, taskOf } from "./programs.ts"

const scope = Scope.makeUnsafe()
let sandbox: Sandbox.Sandbox
beforeAll(async () => {
  sandbox = await Effect.runPromise(Scope.provide(PyodideSandbox.make(), scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

describe("LiveCodeBench", () => {
  const live = (task: Task.Task, code: string) =>
    Effect.runPromise(
      CodeGrader.liveCodeBench(sandbox, { timeoutMillis: 10_000 / PyodideSandbox.slowdown }).grade(task, fenced(code))
    )

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
})
