/**
 * The grader against the official code of BigCodeBench on the same answers, where a copy of that is at hand: its
 * repository's folder in `DIVISI_BIGCODEBENCH`, and in `DIVISI_PYTHON` a Python with tree_sitter, tree_sitter_python and
 * numpy, which that code needs.
 */
import { spawnSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { CodeGrader } from "@divisi/graders/code"
import { LocalPythonSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { can } from "./atHand.ts"
import { folder } from "./folder.ts"
import { fenced, record, taskOf } from "./programs.ts"

const repository = process.env.DIVISI_BIGCODEBENCH
const python = process.env.DIVISI_PYTHON ?? "python3"

interface Case {
  readonly code: string
  readonly right: boolean
  /** Where the official code says otherwise, as documented in docs/lab/sandbox.md. */
  readonly differs?: true
}

const twice = "def task_func(x):\n    return 2 * x"

const passes = (code: string, differs?: true): Case => ({ code, right: true, ...(differs && { differs }) })
const fails = (code: string, differs?: true): Case => ({ code, right: false, ...(differs && { differs }) })

const cases: ReadonlyArray<Case> = [
  passes(twice),
  passes(`import os\nimport sys\n${twice}`),
  passes(`${record.complete_prompt}    return 2 * x`),
  passes(`import math as m, json\nfrom operator import mul\ndef task_func(x):\n    return mul(2, x)`),
  passes("def helper(x):\n    return 2 * x\ndef task_func(x):\n    return helper(x)"),
  passes("TWO = 2\ndef task_func(x):\n    return TWO * x"),
  passes("class Twice:\n    def of(self, x):\n        return 2 * x\ndef task_func(x):\n    return Twice().of(x)"),
  passes("def task_func(x: int) -> int:\n    '''Twice.'''\n    y = x + x\n    return y"),
  passes("def task_func(x):\n    import operator\n    return operator.mul(2, x)"),
  passes("def task_func(x, *rest, factor=2, **more):\n    return factor * x"),
  passes("def task_func(x):\n    try:\n        return 2 * x\n    finally:\n        pass"),
  passes(`${twice}\n\nif __name__ == "__main__":\n    print(task_func(4))`),
  passes(`${twice}\n\nprint(task_func(4))`),
  passes(`print("hello")\n${twice}`),
  passes("def task_func(x):\n    print('noise')\n    return 2 * x"),
  passes("import warnings\ndef task_func(x):\n    warnings.warn('late')\n    return 2 * x"),
  passes("def task_func(x):\n    def inner(y):\n        return y + x\n    return inner(x)"),
  passes("from functools import reduce\ndef task_func(x):\n    return reduce(lambda a, b: a + b, [x, x])"),
  passes("async def other():\n    pass\ndef task_func(x):\n    return 2 * x"),
  passes("UNUSED = 1 / 1\ndef task_func(x):\n    return 2 * x"),
  passes("UNUSED = 1 / 0\ndef task_func(x):\n    return 2 * x"),
  passes("1 / 0\ndef task_func(x):\n    return 2 * x"),
  passes("class Unused(Missing):\n    pass\ndef task_func(x):\n    return 2 * x"),
  fails("def task_func(x):\n    return 3 * x"),
  fails("def task_func(x):\n    return str(2 * x)"),
  fails("def task_func(x):\n    return None"),
  fails("def task_func(x):\n    return 2 * x if x else x"),
  fails("def task_func(x):\n    return 2 * int(x or 0)"),
  fails("def task_func():\n    return 2"),
  fails("def other(x):\n    return 2 * x"),
  fails("def task_func(x):\n    raise ValueError"),
  fails("def task_func(x):\n    return helper(x)"),
  fails("import no_such_package\ndef task_func(x):\n    return 2 * x"),
  fails("def task_func(x):\n    yield 2 * x"),
  fails("def task_func(x):\n    return [2 * x]"),
  fails("def task_func(x):\n    x = 2 * x"),
  fails("import sys\ndef task_func(x):\n    sys.exit(0)"),
  fails("def task_func(x)\n    return 2 * x"),
  fails("BASE = 1 / 0\ndef task_func(x):\n    return 2 * x + 0 * BASE"),
  // Two definitions: the last counts, as in Python.
  passes("def task_func(x):\n    return 3 * x\ndef task_func(x):\n    return 2 * x", true),
  fails("def task_func(x):\n    return 2 * x\ndef task_func(x):\n    return 3 * x", true),
  // What the function needs, and the official code leaves out.
  passes("ONE, TWO = 1, 2\ndef task_func(x):\n    return TWO * x", true),
  passes("TWO = 1\nTWO += 1\ndef task_func(x):\n    return TWO * x", true),
  passes("TWO: int = 2\ndef task_func(x):\n    return TWO * x"),
  passes("import os\nos.environ['TWO'] = '2'\ndef task_func(x):\n    return int(os.environ['TWO']) * x", true),
  passes("TABLE = {}\nTABLE['two'] = 2\ndef task_func(x):\n    return TABLE['two'] * x", true),
  passes(
    "import functools\n@functools.lru_cache\ndef task_func(x):\n    return 2 * x if x is not None else x + x",
    true
  ),
  passes("def count(x):\n    return 2 * x\ntask_func = count", true),
  passes("task_func = lambda x: 2 * x", true),
  passes("try:\n    import numpy\nexcept ImportError:\n    numpy = None\ndef task_func(x):\n    return 2 * x"),
  passes(
    "try:\n    from operator import mul\nexcept ImportError:\n    mul = None\ndef task_func(x):\n    return mul(2, x)",
    true
  ),
  passes(
    "import sys\nif sys.version_info > (3,):\n    TWO = 2\nelse:\n    TWO = 3\ndef task_func(x):\n    return TWO * x",
    true
  ),
  passes("with open(__import__('os').devnull) as file:\n    TWO = 2\ndef task_func(x):\n    return TWO * x", true),
  passes("seen = []\ndef note(x):\n    seen.append(x)\ndef task_func(x):\n    note(x)\n    return 2 * x"),
  passes("def task_func(x):\n\treturn 2 * x"),
  // What does not make its own verdict.
  fails("import unittest\ndef task_func(x):\n    raise unittest.SkipTest('no')", true),
  fails(
    "class All:\n    def __eq__(self, other): return True\ndef task_func(x):\n    return All() if x is not None else 2 * x + x",
    true
  ),
  fails("import os\ndef task_func(x):\n    os._exit(0)"),
  fails("import unittest\nunittest.TestCase.assertEqual = lambda *a: None\ndef task_func(x):\n    return 0")
]

/** Python that asks the official code: its own extraction, its own calibration, its own run of the tests. */
const question = `
import json, os, signal, sys, types
repository, file, result = sys.argv[1:]
os.setpgid(0, 0)
sys.path.insert(0, repository)

def stand_in(name, **parts):
    module = types.ModuleType(name)
    vars(module).update(parts)
    sys.modules.setdefault(name, module)
    return module

nothing = lambda *a, **k: None
stand_in("bigcodebench.data", get_bigcodebench=nothing, load_solutions=nothing, write_directory=nothing, write_jsonl=nothing)
stand_in("pqdm"); stand_in("pqdm.processes", pqdm=nothing); stand_in("tqdm", tqdm=nothing)
stand_in("termcolor", colored=nothing)
stand_in("bigcodebench.eval._special_oracle", _poly=nothing)
# Only to close figures, of which there are none.
matplotlib = stand_in("matplotlib"); matplotlib.pyplot = stand_in("matplotlib.pyplot", close=nothing)
from bigcodebench.sanitize import sanitize
from bigcodebench import eval as evaluation
# Four minutes officially, which an answer that ends its process would take.
evaluation.TIMEOUT_LIMIT = 5
asked = json.load(open(file))
verdicts = []
for answer in asked["answers"]:
    # As a run of the official harness does with a fenced answer.
    solution = asked["code_prompt"] + "\\n    pass\\n" + sanitize(answer, asked["entry_point"])
    status, _ = evaluation.untrusted_check(solution, asked["test"], asked["entry_point"], 0, 0, 0, 5, 5)
    verdicts.append(status == "pass")
with open(result, "w") as file:
    json.dump(verdicts, file)
# An answer that ended its process has left the official code's helper behind.
os.killpg(0, signal.SIGKILL)
`

const official = (): ReadonlyArray<boolean> => {
  const place = folder()
  const [asked, answer] = [path.join(place, "asked.json"), path.join(place, "answer.json")]
  fs.writeFileSync(asked, JSON.stringify({ ...record, answers: cases.map(({ code }) => fenced(code)) }))
  spawnSync(python, ["-c", question, repository!, asked, answer], { stdio: "ignore" })
  return JSON.parse(fs.readFileSync(answer, "utf8"))
}

describe("BigCodeBench", () => {
  it.skipIf(repository === undefined || !can(python, "-c", "import numpy, tree_sitter, tree_sitter_python"))(
    "judges as its official code does, or as the page says (needs the repository in DIVISI_BIGCODEBENCH)",
    async () => {
      const expected = official()
      const program = Effect.gen(function* () {
        const grader = CodeGrader.bigCodeBench(yield* LocalPythonSandbox.makeUnsafe({ python }), {
          timeoutMillis: 20_000
        })
        return yield* Effect.forEach(cases, ({ code }) =>
          Effect.map(grader.grade(taskOf(record), fenced(code)), ({ correct }) => correct)
        )
      })
      const verdicts = await Effect.runPromise(Effect.scoped(program))
      const codesOf = (isSuch: (one: Case, at: number) => boolean) => cases.filter(isSuch).map(({ code }) => code)
      assert.deepStrictEqual(
        codesOf(({ right }, at) => verdicts[at] !== right),
        []
      )
      assert.deepStrictEqual(
        codesOf((one, at) => expected[at] === one.right),
        codesOf((one) => one.differs !== true)
      )
    }
  )
})
