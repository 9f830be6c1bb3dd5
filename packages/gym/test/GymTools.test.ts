/** The family that needs a tool: a worker with the tool can look things up, and no other worker is right. */
import { Baselines, type RunEvent } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { Policy } from "@divisi/core/Policy"
import type { RunSettings } from "@divisi/core/RunSettings"
import type * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { AnyFamilyName } from "../src/Family.ts"
import * as Gym from "../src/Gym.ts"
import * as GymGrader from "../src/GymGrader.ts"
import * as GymPool from "../src/GymPool.ts"
import * as GymTools from "../src/GymTools.ts"
import * as OraclePolicy from "../src/OraclePolicy.ts"

const pool = GymPool.make({ latencyMillis: 0, storekeeper: true })

const equipped = { tools: GymTools.all, unsupported: "omit", retry: { baseDelayMillis: 0 } } as const

const ask = (question: Task.Input, policy: Policy, settings: RunSettings = equipped) => {
  const events: Array<RunEvent.RunEvent> = []
  const conductor = Conductor.make({ policy, pool, seed: 0, ...settings })
  return Effect.map(conductor.run(question, { listener: (event) => void events.push(event) }), (run) => ({
    ...run,
    looked: events.flatMap((event) => (event.type === "tool-finished" ? [event] : [])),
    turns: events.flatMap((event) => (event.type === "turn-finished" ? [event] : []))
  }))
}

const tasks = Gym.tasks({ split: "test", count: 120, having: "stock" })

const metadataOf = (task: Task.Task) => Gym.metadata<AnyFamilyName>(task)!

const isRight = (task: Task.Task, policy: Policy, settings?: RunSettings) =>
  Effect.map(ask(task, policy, settings), ({ answer }) => GymGrader.isCorrect(answer ?? "", task.reference!))

const rightOf = (some: ReadonlyArray<Task.Task>, policy: Policy, settings?: RunSettings) =>
  Effect.filter(some, (task) => isRight(task, policy, settings))

/** Whether the part that needs the tool is the one that answers the question. */
const isLast = (task: Task.Task) => metadataOf(task).parts.at(-1)!.family === "stock"

const both = "How many copper kettles and amber lanterns are in stock together?"

describe("tasks that need a tool", () => {
  it("come only where they are asked for, alone and in composites with the other families", () => {
    const usual = Gym.tasks({ split: "test", count: 400 })
    for (const task of usual) assert.isFalse(metadataOf(task).parts.some(({ family }) => family === "stock"))
    const families = tasks.map((task) => metadataOf(task).family)
    assert.deepStrictEqual(new Set(families), new Set(["stock", "composite"]))
    const composites = tasks.filter((task) => metadataOf(task).family === "composite")
    assert.isTrue(composites.length > 30 && composites.length < 70, `${composites.length}`)
    for (const task of tasks) assert.isTrue(metadataOf(task).parts.some(({ family }) => family === "stock"))
    assert.isAbove(composites.filter(isLast).length, 5)
    assert.isAbove(composites.filter((task) => !isLast(task)).length, 5)
  })

  it("are of families that include theirs", () => {
    const families = ["stock", "units"] as const
    for (const task of Gym.tasks({ split: "test", count: 20, families, having: "stock" })) {
      for (const { family } of metadataOf(task).parts) assert.isTrue(family === "stock" || family === "units")
    }
    const wrong = () => Gym.tasks({ split: "test", count: 1, families: ["units"], having: "stock" })
    assert.throws(wrong, /include "stock"/)
  })
})

describe("the workers of the gym", () => {
  it("say who of them can call tools, and the usual team has no storekeeper", () => {
    const able = pool.workers.flatMap(({ capabilities, id }) => (capabilities?.tools === true ? [id] : []))
    assert.deepStrictEqual(able, ["professor", "engineer", "student", "storekeeper"])
    assert.notInclude(WorkerPool.ids(GymPool.make()), "storekeeper")
  })

  it.effect("call the tool for all that they need at once, and answer with what it says", () =>
    Effect.gen(function* () {
      const { answer, looked, spend, turns } = yield* ask(both, Baselines.single("storekeeper"))
      const pieces = looked.map(({ content }) => Number(JSON.parse(String(content)).pieces))
      assert.deepStrictEqual([pieces.length, pieces[0]], [2, 6199])
      assert.strictEqual(answer, String(pieces[0]! + pieces[1]!))
      assert.deepStrictEqual(
        turns.map(({ toolCalls }) => toolCalls.map(({ arguments: given }) => JSON.parse(given))),
        [[{ article: "copper kettles" }, { article: "amber lanterns" }]]
      )
      assert.strictEqual(spend.calls, 2)
      assert.isAbove(spend.costUsd, 0)
    })
  )

  it.effect("know nothing of the warehouse without the tool, however they are asked", () =>
    Effect.gen(function* () {
      for (const id of WorkerPool.ids(pool)) {
        const right = yield* rightOf(tasks.slice(0, 60), Baselines.single(id), { retry: { baseDelayMillis: 0 } })
        assert.deepStrictEqual(right, [], id)
      }
      const { answer, ending } = yield* ask(both, Baselines.single("professor"), {})
      assert.strictEqual(answer, undefined)
      assert.strictEqual(ending, "refused")
    })
  )

  it.effect("use it as well as they are skilled: the storekeeper always, the student for the first article", () =>
    Effect.gen(function* () {
      const alone = tasks.filter((task) => metadataOf(task).family === "stock")
      const right = (id: string) => Effect.map(rightOf(alone, Baselines.single(id)), ({ length }) => length)
      assert.strictEqual(yield* right("storekeeper"), alone.length)
      const [professor, student] = [yield* right("professor"), yield* right("student")]
      assert.isTrue(professor > student && professor > alone.length * 0.85, `${professor} of ${alone.length}`)
      assert.isBelow(student, alone.length * 0.75)
      assert.strictEqual(yield* right("editor"), 0)
      assert.lengthOf((yield* ask(both, Baselines.single("student"))).looked, 1)
    })
  )

  it.effect("decline when the tool fails, and ask it once", () =>
    Effect.gen(function* () {
      const run = yield* ask("How many golden dragons are in stock?", Baselines.single("storekeeper"))
      assert.strictEqual(run.ending, "refused")
      assert.lengthOf(run.looked, 1)
      assert.isTrue(run.looked[0]!.isError)
      assert.match(String(run.detail), /no item "golden dragons"/)
    })
  )

  it.effect("do not call it where they may not", () =>
    Effect.gen(function* () {
      const { looked, ending } = yield* ask(both, Baselines.single("storekeeper"), { ...equipped, maxToolRounds: 0 })
      assert.deepStrictEqual([looked.length, ending], [0, "refused"])
    })
  )
})

describe("policies on tasks that need a tool", () => {
  it.effect("reach every part with tools for every step or by policy, and the last alone by default", () =>
    Effect.gen(function* () {
      const oracle = OraclePolicy.make()
      const right = (toolAccess: RunSettings["toolAccess"]) => rightOf(tasks, oracle, { ...equipped, toolAccess })
      assert.isAtLeast((yield* right("every-step")).length, tasks.length * 0.97)
      assert.deepStrictEqual(yield* right("policy"), yield* right("every-step"))
      assert.deepStrictEqual(yield* right("none"), [])
      const last = yield* right(undefined)
      assert.isTrue(last.every(isLast))
      assert.isAbove(last.length, tasks.filter(isLast).length * 0.97)
    })
  )

  it.effect("find who has the tool by what the question says", () =>
    Effect.gen(function* () {
      const { answer, looked } = yield* ask("How many copper kettles are in stock?", LexicalPolicy.make())
      assert.deepStrictEqual([answer, looked.length], ["6199", 1])
    })
  )
})
