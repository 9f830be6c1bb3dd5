import fs from "node:fs"
import path from "node:path"
import { Verifiers } from "@divisi/evals"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { folder } from "./folder.ts"

/** An interpreter of a test's own: it is given the bridge, and speaks its lines as verifiers 0.4 does. */
const pythonThat = (source: string): string => {
  const file = path.join(folder(), "python")
  fs.writeFileSync(file, `#!${process.execPath}\n${source}`, { mode: 0o755 })
  return file
}

const speaking = (tasks: ReadonlyArray<object>, grade: string) =>
  pythonThat(`
const say = (value) => process.stdout.write(JSON.stringify(value) + "\\n")
const lines = require("node:readline").createInterface({ input: process.stdin })
let isAsked = false
lines.on("line", (line) => {
  const value = JSON.parse(line)
  if (isAsked) return (${grade})(value)
  isAsked = true
  const tasks = ${JSON.stringify(tasks)}.slice(0, value.limit)
  for (const task of tasks) say({ task })
  say({ done: tasks.length })
})
`)

const row = (id: string, unsupported: string | null = null) => ({
  id,
  messages: [
    { role: "system", content: "Be short." },
    { role: "user", content: `Question ${id}?` }
  ],
  unsupported
})

const load = (python: string, options: Partial<Verifiers.Options> = {}) =>
  Verifiers.load({ taskset: "words-v1", python, ...options })

describe("tasksets of verifiers", () => {
  it.live("are suites: their tasks, graded by their weighted rewards, while the scope is open", () =>
    Effect.gen(function* () {
      const rewards = `({ id, task, answer }) => setTimeout(() => answer === "broken"
        ? say({ id, failed: "KeyError: broken" })
        : say({ id, rewards: { right: [answer === "yes" + task ? 1 : 0, 1], short: [answer.length < 9 ? 1 : 0, 0.25], box: answer === "box" ? null : [0, 0] } }), 10 - task)`
      const suite = yield* load(speaking([row("a"), row("b"), row("a")], rewards))
      assert.deepStrictEqual(
        suite.tasks.map(({ id }) => id),
        ["words-v1/a", "words-v1/b", "words-v1/a-2"]
      )
      assert.deepStrictEqual(suite.tasks[0]?.messages, row("a").messages as never)
      assert.deepInclude(suite.record, { benchmark: "words-v1", grader: "verifiers:words-v1", selected: 3 })
      const grade = (at: number, answer: string) => suite.grader.grade(suite.tasks[at]!, answer)
      const [first, second, third] = yield* Effect.all([grade(0, "yes0"), grade(1, "no"), grade(2, "not at all")], {
        concurrency: 3
      })
      assert.deepInclude(first, { correct: true, score: 1 })
      assert.deepInclude(second, { correct: false, score: 0.2 })
      assert.deepInclude(third, { correct: false, score: 0 })
      assert.include((yield* Effect.flip(grade(0, "broken"))).message, "KeyError: broken")
      assert.lengthOf((yield* load(speaking([row("a"), row("b")], rewards), { limit: 1 })).tasks, 1)
    }).pipe(Effect.scoped)
  )

  it.live("say why they cannot be used", () =>
    Effect.gen(function* () {
      const refusal = (python: string, options: Partial<Verifiers.Options> = {}) =>
        Effect.map(Effect.flip(Effect.scoped(load(python, options))), (error) => `${error._tag} ${error.message}`)
      assert.include(yield* refusal("/nowhere/python"), "Install Python 3.11 or later")
      const lacks = pythonThat(
        `console.log(JSON.stringify({ error: "package", detail: "ModuleNotFoundError: verifiers" }))`
      )
      assert.include(yield* refusal(lacks), "pip install verifiers")
      assert.include(yield* refusal(pythonThat("process.exit(3)")), "exited with code 3")
      assert.include(yield* refusal(pythonThat(`console.log("{")`)), "a line that is not JSON")
      assert.include(
        yield* refusal(speaking([row("a", "it needs a container")], "() => {}")),
        "its task a is not supported: it needs a container"
      )
      assert.include(yield* refusal(speaking([], "() => {}")), "it has no tasks")
      assert.include(yield* refusal(pythonThat("setInterval(() => {}, 1e6)"), { timeoutMillis: 50 }), "within 50 ms")
      assert.match(yield* refusal("python3", { limit: 0 }), /^OptionsError .*"limit" must be a whole number/)
    })
  )

  it.live("give no verdict where their process has ended", () =>
    Effect.gen(function* () {
      const suite = yield* load(speaking([row("a")], "() => process.exit(1)"))
      const error = yield* Effect.flip(suite.grader.grade(suite.tasks[0]!, "yes"))
      assert.include(error.message, "exited with code 1")
      assert.include((yield* Effect.flip(suite.grader.grade(suite.tasks[0]!, "yes"))).message, "exited with code 1")
    }).pipe(Effect.scoped)
  )
})
