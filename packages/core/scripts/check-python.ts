/**
 * Compares strict reading with Python on a generated corpus, and what WorkflowText.write writes with what Python reads.
 *
 *     node --conditions=@divisi/source packages/core/scripts/check-python.ts [--seed 1] [--cases 40000] [--sample 400]
 *
 * Needs a python3. Prints JSON: the counts of each verdict and the first disagreements; exits 1 on any. With `--sample`,
 * prints that many of the cases instead, one JSON value per line, as test/fixtures/python-verdicts.jsonl holds them.
 */
import { execFileSync } from "node:child_process"
import { isDeepStrictEqual, parseArgs } from "node:util"
import * as Result from "effect/Result"
import type { Workflow } from "../src/workflow/Workflow.ts"
import * as WorkflowText from "../src/workflow/WorkflowText.ts"
import { makeCorpus, makeWorkflows } from "./workflowTextCorpus.ts"

const rules = { poolSize: 1000, maxSteps: 1000, allowEmpty: true }

/** Python's reading of each text: `ast.parse`, `ast.literal_eval` for each assignment, then the rules of a workflow. */
const oracle = `
import ast, json, sys, warnings

warnings.simplefilter("ignore")
is_index = lambda value: isinstance(value, int) and not isinstance(value, bool)
is_list = lambda value: isinstance(value, (list, tuple))
is_element = {
    "model_id": is_index,
    "subtasks": lambda value: isinstance(value, str),
    "access_list": lambda value: value == "all" or (is_list(value) and all(map(is_index, value))),
}

def read(text):
    values = {}
    for statement in ast.parse(text).body:
        if not isinstance(statement, ast.Assign):
            raise ValueError("no assignment")
        value = ast.literal_eval(statement.value)
        for target in statement.targets:
            if not (isinstance(target, ast.Name) and target.id in is_element):
                raise ValueError("another target")
            if not (is_list(value) and all(map(is_element[target.id], value))):
                raise ValueError(target.id)
            values[target.id] = value
    return [values[name] for name in is_element]

def check(workers, subtasks, access):
    if not len(workers) == len(subtasks) == len(access):
        return None
    steps = []
    for step, (worker, subtask, seen) in enumerate(zip(workers, subtasks, access)):
        if not 0 <= worker < ${rules.poolSize}:
            return None
        if seen != "all":
            if not all(0 <= index < step for index in seen):
                return None
            seen = sorted(set(seen))
        steps.append({"worker": worker, "subtask": subtask, "access": seen})
    return steps

for line in sys.stdin:
    try:
        lists = read(json.loads(line))
    except (SyntaxError, ValueError, KeyError, TypeError, MemoryError, RecursionError):
        print('{"verdict": "unreadable"}')
        continue
    steps = check(*lists)
    print(json.dumps({"verdict": "invalid"} if steps is None else {"verdict": "read", "steps": steps}))
`

interface Verdict {
  readonly verdict: "read" | "invalid" | "unreadable"
  readonly steps?: Workflow["steps"] | undefined
}

const askPython = (texts: ReadonlyArray<string>): Array<Verdict> =>
  execFileSync("python3", ["-c", oracle], {
    input: texts.map((text) => `${JSON.stringify(text)}\n`).join(""),
    maxBuffer: 1 << 30
  })
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

const ask = (text: string): Verdict => {
  const reading = WorkflowText.read(text, { ...rules, mode: "strict" })
  if (Result.isSuccess(reading)) return { verdict: "read", steps: reading.success.workflow.steps }
  return { verdict: reading.failure.reason._tag === "Unreadable" ? "unreadable" : "invalid" }
}

/** Tolerant reading must give the same wherever strict reading gives a workflow. */
const askTolerant = (text: string): Verdict | undefined => {
  const reading = WorkflowText.read(text, rules)
  return Result.isSuccess(reading) ? { verdict: "read", steps: reading.success.workflow.steps } : undefined
}

const escapeAll = (json: string) =>
  json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    cases: { type: "string", default: "40000" },
    sample: { type: "string" }
  }
})
const seed = Number(options.seed)

if (options.sample !== undefined) {
  const texts = makeCorpus(seed, Number(options.sample) * 2).filter((text) => text.length < 600)
  const sample = texts.slice(0, Number(options.sample))
  const verdicts = askPython(sample)
  for (const [index, text] of sample.entries()) console.log(escapeAll(JSON.stringify({ text, ...verdicts[index] })))
} else {
  const workflows = makeWorkflows(seed + 1, 2000)
  const written = workflows.map((workflow) => WorkflowText.write(workflow))
  const texts = [...makeCorpus(seed, Number(options.cases)), ...written]
  const verdicts = askPython(texts)
  const counts = { read: 0, invalid: 0, unreadable: 0 }
  const disagreements: Array<{ readonly text: string; readonly python: Verdict; readonly ours: Verdict }> = []
  for (const [index, text] of texts.entries()) {
    const python = verdicts[index]!
    const ours = ask(text)
    counts[python.verdict]++
    const original = workflows[index - (texts.length - written.length)]
    const agree =
      isDeepStrictEqual(ours, python) &&
      (python.verdict !== "read" || isDeepStrictEqual(askTolerant(text), python)) &&
      (original === undefined || isDeepStrictEqual(ours.steps, original.steps))
    if (!agree) disagreements.push({ text, python, ours })
  }
  const python = execFileSync("python3", ["--version"]).toString().trim()
  const summary = { python, seed, cases: texts.length, written: written.length, verdicts: counts }
  console.log(
    JSON.stringify({ ...summary, disagreements: disagreements.length, first: disagreements.slice(0, 10) }, null, 2)
  )
  process.exitCode = disagreements.length > 0 ? 1 : 0
}
