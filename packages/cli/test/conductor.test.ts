import path from "node:path"
import { assert, describe, it } from "vitest"
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

  it("gives a question that needs a tool to the worker that has it", async () => {
    const stock = ["gym", "solve", "--family", "stock", "--tasks", "40", "--tool-access", "every-step", "--json"]
    const { output } = await divisi([...stock, "--policy", "conductor"])
    assert.isAbove(JSON.parse(output).accuracy, 0.8)
  })

  it("leaves other workers to the lexical policy where it knows the gym's by heart", async () => {
    const own = ["run", question, "--json", "--config", config("quick")]
    const { output } = await divisi([...own, "--policy", "tiny"])
    const plan = planIn(output)
    assert.strictEqual(plan.policy, "lexical")
    assert.match(plan.notes[0], /was trained only with the gym's workers, and the pool has none of them/)
    const gym = await divisi(["run", question, "--json", "--policy", "tiny"])
    assert.deepInclude(planIn(gym.output), { policy: "tiny", notes: [] })
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
