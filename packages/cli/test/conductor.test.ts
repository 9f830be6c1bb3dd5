import path from "node:path"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { assert, describe, it } from "vitest"
import * as RunOptions from "../src/conductor/RunOptions.ts"
import { config, divisi, inFolder, without } from "./process.ts"

const question = "How many minutes are there in 3 days and 4 hours?"

const eventsOf = (output: string) =>
  output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

const planIn = (output: string) => eventsOf(output).find(({ type }) => type === "workflow-proposed")

describe.concurrent("a Conductor that comes with the command line", () => {
  it("plans for the gym when it is named, after its run has been shown", async () => {
    const { code, errors, output } = await divisi(["run", question, "--json", "--policy", "conductor"], {
      cwd: path.parse(process.cwd()).root
    })
    assert.deepStrictEqual([code, errors], [0, ""])
    const types = eventsOf(output).map(({ type }) => type)
    assert.strictEqual(eventsOf(output)[0].policy, "conductor")
    assert.isBelow(types.indexOf("run-started"), types.indexOf("completion-finished"))
    assert.deepInclude(planIn(output), { policy: "conductor", notes: [] })
  })

  it("plans for workers that it has never read of", async () => {
    const { output } = await divisi(["run", question, "--json", "--policy", "conductor", "--config", config("quick")])
    assert.strictEqual(planIn(output).policy, "conductor")
    const solved = await divisi(["gym", "solve", "--tasks", "12", "--policy", "conductor", "--json"])
    assert.isAbove(JSON.parse(solved.output).accuracy, 0.7)
  })

  it("gives a question that only a tool answers to whoever has it", async () => {
    const stock = ["gym", "solve", "--family", "stock", "--tasks", "40", "--tool-access", "every-step", "--json"]
    const { output } = await divisi([...stock, "--policy", "conductor"])
    assert.isAbove(JSON.parse(output).accuracy, 0.8)
  })

  it("leaves other workers to the lexical policy where it knows the gym's by heart", async () => {
    const own = ["run", question, "--json", "--config", config("quick")]
    const { output } = await divisi([...own, "--policy", "tiny"])
    const plan = planIn(output)
    assert.strictEqual(plan.policy, "lexical")
    assert.match(plan.notes[0], /knows the workers of the gym alone, and none of these is one of them/)
    const gym = await divisi(["run", question, "--json", "--policy", "tiny"])
    assert.deepInclude(planIn(gym.output), { policy: "tiny", notes: [] })
  })

  it("plans only when it is named: the default is the lexical policy, for several language models the router, and for one among others it", async () => {
    const flags = (pool?: string) => ({ pool: Option.fromUndefinedOr(pool) })
    const defaultPolicy = (pool: string | undefined, ...workers: ReadonlyArray<Partial<Worker>>) =>
      Effect.runPromise(
        RunOptions.defaultPolicy(
          {},
          flags(pool),
          WorkerPool.makeUnsafe(workers.map((worker, index) => ({ ...ScriptedWorker.echo(`w${index}`), ...worker })))
        )
      )
    assert.strictEqual(await defaultPolicy(undefined, {}), "lexical")
    assert.strictEqual(await defaultPolicy("professor,abacus", {}, {}), "lexical")
    assert.strictEqual(await defaultPolicy("openai:gpt-5", {}), undefined)
    assert.strictEqual(await defaultPolicy("a:b,c:d", {}, { isLanguageModel: true }), undefined)
    const models = [{ isLanguageModel: true }, { isLanguageModel: true }]
    assert.strictEqual(await defaultPolicy("a:b,c:d", ...models), "router")
    assert.strictEqual(await defaultPolicy("a:b,c:d", {}, { description: "Good at dates." }), "lexical")
    const problem = await defaultPolicy("a:b,c:d", {}, {}).then(
      () => "",
      (error) => String(error.message)
    )
    assert.include(problem, "--policy single:<id>")
  })

  it("plans and is measured where llama.cpp is not installed", () =>
    inFolder(async (folder) => {
      const where = { cwd: folder, environment: without("@divisi/policy-llamacpp", "node-llama-cpp") }
      const run = await divisi(["run", question, "--policy", "conductor", "--json"], where)
      assert.deepStrictEqual([run.code, run.errors], [0, ""])
      assert.deepInclude(planIn(run.output), { policy: "conductor", notes: [] })
      const solved = await divisi(["gym", "solve", "--tasks", "4", "--policy", "conductor", "--json"], where)
      assert.strictEqual(solved.code, 0)
    }))
})
