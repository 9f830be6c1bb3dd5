/** The value of an answer has the type of the schema that was asked for, and the error of a run is one of a union. */
import {
  conduct,
  memoryJournal,
  OptionsError,
  policy,
  resume,
  single,
  streamAnswer,
  worker
} from "@divisi/core/promise"
import { assert, describe, it } from "@effect/vitest"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as valibot from "valibot"
import { expectTypeOf } from "vitest"
import { z } from "zod"
import * as Conductor from "../src/run/Conductor.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

interface City {
  readonly name: string
  readonly people: number
}

const json = '{"name":"Ulm","people":128928}'
const ulm = { name: "Ulm", people: 128_928 }
const asked: Array<unknown> = []
const model = worker({
  id: "model",
  capabilities: { jsonSchema: true },
  answer: ({ output }) => {
    asked.push(output)
    return json
  }
})
const options = { question: "A city", pool: [model], policy: single(0) }
const zod = z.object({ name: z.string(), people: z.number() })
const jsonSchema = {
  type: "object",
  properties: { name: { type: "string" }, people: { type: "number" } },
  required: ["name", "people"]
}

describe("the value of an answer", () => {
  it("has the type of a schema of zod, as it is or with a name", async () => {
    const result = await conduct({ ...options, output: zod })
    if (result.ending !== "answered") return assert.fail(result.detail)
    expectTypeOf(result.value).toEqualTypeOf<{ name: string; people: number }>()
    assert.deepStrictEqual(result.value, ulm)
    assert.deepInclude(asked.at(-1), { type: "json-schema", name: "answer" })
    const named = await conduct({ ...options, output: { type: "json-schema", name: "city", schema: zod } })
    expectTypeOf(named.value).toEqualTypeOf<{ name: string; people: number } | undefined>()
    assert.deepInclude(asked.at(-1), { name: "city" })
  })

  it("has the type of what a schema decodes to", async () => {
    const result = await conduct({ ...options, output: zod.transform(({ name }) => name.length) })
    expectTypeOf(result.value).toEqualTypeOf<number | undefined>()
    assert.strictEqual(result.value, 3)
    const decoded = Schema.Struct({ name: Schema.String, people: Schema.Finite })
    const { value } = await conduct({ ...options, output: decoded })
    expectTypeOf(value).toEqualTypeOf<{ readonly name: string; readonly people: number } | undefined>()
    assert.deepStrictEqual(value, ulm)
  })

  it("has the type of a schema of valibot and of arktype", async () => {
    const entries = valibot.object({ name: valibot.string(), people: valibot.number() })
    const ofValibot = await conduct({ ...options, output: toStandardJsonSchema(entries) })
    expectTypeOf(ofValibot.value).toEqualTypeOf<{ name: string; people: number } | undefined>()
    const ofArktype = await conduct({ ...options, output: type({ name: "string", people: "number" }) })
    expectTypeOf(ofArktype.value).toEqualTypeOf<{ name: string; people: number } | undefined>()
    assert.deepStrictEqual([ofValibot.value, ofArktype.value], [ulm, ulm])
  })

  it("has the type argument of a JSON Schema, and is unknown without one", async () => {
    const typed = await conduct<City>({ ...options, output: jsonSchema })
    expectTypeOf(typed.value).toEqualTypeOf<City | undefined>()
    assert.deepStrictEqual(typed.value, ulm)
    const untyped = await conduct({ ...options, output: jsonSchema })
    expectTypeOf(untyped.value).toEqualTypeOf<unknown>()
    const any = await conduct({ ...options, output: { type: "json" } })
    expectTypeOf(any.value).toEqualTypeOf<unknown>()
    assert.deepStrictEqual(any.value, ulm)
  })

  it("has its type in every way to run", async () => {
    const journal = memoryJournal()
    await conduct({ ...options, journal, runId: "run-1", output: zod })
    const again = await resume({ pool: options.pool, policy: options.policy, journal, runId: "run-1", output: zod })
    expectTypeOf(again.value).toEqualTypeOf<{ name: string; people: number } | undefined>()
    assert.deepStrictEqual(again.value, ulm, "a run that a journal gives again has its value")
    const stream = streamAnswer({ ...options, output: zod })
    for await (const _ of stream);
    const { value } = await stream.result
    expectTypeOf(value).toEqualTypeOf<{ name: string; people: number } | undefined>()
    const conductor = Conductor.make({ pool: WorkerPool.makeUnsafe([model]), policy: single(0) })
    const run = await Effect.runPromise(conductor.run("A city", { output: zod }))
    expectTypeOf(run.value).toEqualTypeOf<{ name: string; people: number } | undefined>()
    assert.deepStrictEqual([value, run.value], [ulm, ulm])
  })

  it("is there for every run that is answered: an answer of another shape fails it", async () => {
    const draft = worker({ id: "draft", answer: () => "a draft" })
    const stopping = policy(
      "stop at the draft",
      () => ({
        steps: [
          { worker: 1, subtask: "Draft.", access: [], check: { by: "never", onFailure: "revise" } },
          { worker: 0, subtask: "", access: [0] }
        ]
      }),
      { checks: { never: () => false }, revise: () => ({ type: "stop", answer: { round: 0, step: 0 } }) }
    )
    const result = await conduct({ ...options, pool: [model, draft], policy: stopping, output: zod })
    assert.strictEqual(result.ending, "failed")
    assert.strictEqual(result.error?._tag, "UnfittingAnswer")
    assert.include(result.detail, "does not match the output schema")
  })
})

describe("an output that is not a schema", () => {
  it.each([
    [
      { type: "json-schema", nmae: "city", schema: jsonSchema },
      /"output.nmae" does not exist\. Did you mean "output.name"\?/
    ],
    [{ type: "json-schema", schema: jsonSchema }, /"output.name" is missing/],
    [{ type: "json-schema", name: "my city", schema: jsonSchema }, /"output.name" must be a name \(letters, digits/],
    ["json", /"output" must be a schema/]
  ])("is refused before anything is paid: %j", async (output, message) => {
    const before = asked.length
    const error = await conduct({ ...options, output: output as never }).catch((error) => error)
    assert.instanceOf(error, OptionsError)
    assert.match(error.message, message)
    assert.strictEqual(asked.length, before)
  })
})

describe("the error of a run", () => {
  it("is one of a union of tagged errors", async () => {
    const broken = worker({
      id: "broken",
      answer: () => {
        throw Object.assign(new Error("no"), { status: 401 })
      }
    })
    const { error } = await conduct({ ...options, pool: [broken] })
    if (error === undefined) return assert.fail()
    expectTypeOf(error._tag).toEqualTypeOf<
      | "BudgetExceeded"
      | "CallbackError"
      | "DelegateError"
      | "GraderError"
      | "JournalError"
      | "JournalMismatch"
      | "OptionsError"
      | "PolicyError"
      | "Refusal"
      | "RunDefect"
      | "ShapeError"
      | "StepFailed"
      | "UnfittingAnswer"
      | "Unsupported"
      | "WorkerError"
    >()
    assert.strictEqual(error._tag, "StepFailed")
    if (error._tag === "StepFailed") expectTypeOf(error.step).toEqualTypeOf<number>()
    const { error: limited } = await conduct({ ...options, budget: { calls: 0 } })
    assert.strictEqual(limited?._tag, "BudgetExceeded")
  })
})
