/**
 * The modules that a program loads for its first answer: each module costs its start half a millisecond, and streams
 * 26.
 */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"

/** The names of the modules that a program loads, in the order in which it does. */
const loadedBy = async (program: string): Promise<ReadonlyArray<string>> => {
  const script = `
    import { registerHooks } from "node:module"
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    ${program}
    console.log(loaded.join("\\n"))`
  const args = ["--conditions=@divisi/source", "--input-type=module", "--eval", script]
  const cwd = fileURLToPath(new URL("..", import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd })
  return stdout.match(/[^/\n]+(?=\.[jt]s$)/gm) ?? []
}

const promiseRun = (answer: string) => `
  const { conduct, policy, worker } = await import("@divisi/core/promise")
  const plan = policy("two", () => ({ steps: [0, 1].map((access) => ({ worker: 0, subtask: "", access: access ? [0] : [] })) }))
  const result = await conduct({ question: "Why?", pool: [worker({ id: "a", answer: ${answer} })], policy: plan })
  if (result.answer !== "42") throw new Error(result.detail)`

const effectRun = `
  const [Effect, Conductor, Policy, WorkerPool] = await Promise.all([
    import("effect/Effect"),
    import("@divisi/core/Conductor"),
    import("@divisi/core/Policy"),
    import("@divisi/core/WorkerPool")
  ])
  const usage = { inputTokens: 1, outputTokens: 1 }
  const generate = () => Effect.succeed([{ type: "text", text: "42" }, { type: "finish", reason: "stop", usage }])
  const pool = WorkerPool.makeUnsafe([{ id: "a", generate }])
  const policy = Policy.fixed("one", () => ({ steps: [{ worker: 0, subtask: "", access: [] }] }))
  const { answer } = await Effect.runPromise(Conductor.make({ policy, pool }).run("Why?"))
  if (answer !== "42") throw new Error(answer)`

/** Modules that are loaded only when used. */
const unused = ["Stream", "Channel", "Queue", "Schema", "SchemaAST", "HttpClient", "Wire", "WorkflowText", "Prompt"]

describe("a first run", () => {
  it.each([
    ["of the promise API", promiseRun("async () => '42'")],
    ["of the Effect API", effectRun]
  ])("%s loads no streams, schemas or readers that it does not use", async (_, program) => {
    const loaded = await loadedBy(program)
    assert.include(loaded, "scheduler")
    assert.deepStrictEqual(
      unused.filter((name) => loaded.includes(name)),
      []
    )
  })

  it("of a worker that answers in pieces loads streams, and still no schemas", async () => {
    const loaded = await loadedBy(promiseRun("async function* () { yield '4'; yield '2' }"))
    assert.include(loaded, "Stream")
    assert.notInclude(loaded, "Schema")
  })
})
