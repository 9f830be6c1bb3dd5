/** Schemas that do more than describe JSON: they transform, fill in, choose, recur and wait. */
import { conduct, single, worker } from "@divisi/core/promise"
import { assert, describe, it } from "@effect/vitest"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { scope, type } from "arktype"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as valibot from "valibot"
import { expectTypeOf } from "vitest"
import { z } from "zod"

/** Returns the options for a run whose answer is the given text. */
const answering = (text: string) => ({
  question: "Which?",
  pool: [worker({ id: "model", capabilities: { jsonSchema: true }, answer: () => text })],
  policy: single(0)
})

interface Tree {
  readonly name: string
  readonly parts: ReadonlyArray<Tree>
}

const tree = '{"name":"a","parts":[{"name":"b","parts":[]}]}'
const day = new Date("2026-11-30T00:00:00.000Z")
const dated = '{"at":"2026-11-30T00:00:00.000Z"}'

describe("a value of zod", () => {
  it("is transformed, and has its defaults", async () => {
    const output = z.object({ name: z.string().transform((name) => name.length), size: z.number().default(3) })
    const { value } = await conduct({ ...answering('{"name":"Ulm"}'), output })
    expectTypeOf(value).toEqualTypeOf<{ name: number; size: number } | undefined>()
    assert.deepStrictEqual(value, { name: 3, size: 3 })
  })

  it("may lack what is optional, and is one of a union", async () => {
    const output = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("text"), text: z.string() }),
      z.object({ kind: z.literal("none"), why: z.string().optional() })
    ])
    const { value } = await conduct({ ...answering('{"kind":"none"}'), output })
    expectTypeOf(value).toEqualTypeOf<
      { kind: "text"; text: string } | { kind: "none"; why?: string | undefined } | undefined
    >()
    assert.deepStrictEqual(value, { kind: "none" })
  })

  it("is a date by a codec, and a bare date is refused before anything is paid", async () => {
    const at = z.codec(z.iso.datetime(), z.date(), {
      decode: (text) => new Date(text),
      encode: (at) => at.toISOString()
    })
    const { value } = await conduct({ ...answering(dated), output: z.object({ at }) })
    expectTypeOf(value).toEqualTypeOf<{ at: Date } | undefined>()
    assert.deepStrictEqual(value, { at: day })
    const bare = await conduct({ ...answering(dated), output: z.object({ at: z.date() }) })
    assert.deepStrictEqual([bare.error?._tag, bare.spend.calls], ["ShapeError", 0])
    assert.include(bare.detail, "Date cannot be represented in JSON Schema")
  })

  it("recurs", async () => {
    const output = z.object({
      name: z.string(),
      get parts() {
        return z.array(output)
      }
    })
    const { value } = await conduct({ ...answering(tree), output })
    expectTypeOf(value?.parts[0]?.parts[0]?.name).toEqualTypeOf<string | undefined>()
    assert.deepStrictEqual(value, JSON.parse(tree))
  })

  it("with asynchronous checks fails after one call, and the error states why", async () => {
    const isKnown = async (name: string) => name === "Ulm"
    const output = z.object({ name: z.string().refine(isKnown, "unknown city") })
    const { detail, ending, spend } = await conduct({ ...answering('{"name":"Ulm"}'), output })
    assert.deepStrictEqual([ending, spend.calls], ["failed", 1])
    assert.include(detail, "asynchronous checks, which are not supported. Make the checks synchronous")
  })
})

describe("a value of valibot", () => {
  it("is transformed, has its defaults, and is one of a union", async () => {
    const output = toStandardJsonSchema(
      valibot.union([
        valibot.object({ size: valibot.optional(valibot.number(), 3), name: valibot.string() }),
        valibot.object({ none: valibot.literal(true) })
      ])
    )
    const { value } = await conduct({ ...answering('{"name":"Ulm"}'), output })
    expectTypeOf(value).toEqualTypeOf<{ size: number; name: string } | { none: true } | undefined>()
    assert.deepStrictEqual(value, { size: 3, name: "Ulm" })
  })

  it("recurs", async () => {
    const schema: valibot.GenericSchema<Tree> = valibot.object({
      name: valibot.string(),
      parts: valibot.array(valibot.lazy(() => schema))
    })
    const { value } = await conduct({ ...answering(tree), output: toStandardJsonSchema(schema) })
    expectTypeOf(value).toEqualTypeOf<Tree | undefined>()
    assert.deepStrictEqual(value, JSON.parse(tree))
  })
})

describe("a value of arktype", () => {
  it("is one of a union, and may lack what is optional", async () => {
    const output = type({ kind: "'text'", text: "string" }).or({ kind: "'none'", "why?": "string" })
    const { value } = await conduct({ ...answering('{"kind":"none"}'), output })
    expectTypeOf(value).toEqualTypeOf<{ kind: "text"; text: string } | { kind: "none"; why?: string } | undefined>()
    assert.deepStrictEqual(value, { kind: "none" })
  })

  it("recurs", async () => {
    const { node: output } = scope({ node: { name: "string", parts: "node[]" } }).export()
    const { value } = await conduct({ ...answering(tree), output })
    expectTypeOf(value?.parts[0]?.name).toEqualTypeOf<string | undefined>()
    assert.deepStrictEqual(value, JSON.parse(tree))
  })

  it("is transformed", async () => {
    const { value } = await conduct({ ...answering(dated), output: type({ at: "string.date.iso.parse" }) })
    expectTypeOf(value).toEqualTypeOf<{ at: Date } | undefined>()
    assert.deepStrictEqual(value, { at: day })
  })
})

describe("a value of Effect's Schema", () => {
  it("is decoded, has its defaults, and is one of a union", async () => {
    const output = Schema.Union([
      Schema.Struct({
        at: Schema.DateFromString,
        size: Schema.Finite.pipe(Schema.withDecodingDefaultKey(Effect.succeed(3)))
      }),
      Schema.Struct({ none: Schema.optionalKey(Schema.String) })
    ])
    const { value } = await conduct({ ...answering(dated), output })
    expectTypeOf(value).toEqualTypeOf<
      { readonly at: Date; readonly size: number } | { readonly none?: string } | undefined
    >()
    assert.deepStrictEqual(value, { at: day, size: 3 })
  })

  it("recurs", async () => {
    const output: Schema.Codec<Tree> = Schema.Struct({
      name: Schema.String,
      parts: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => output))
    })
    const { value } = await conduct({ ...answering(tree), output })
    expectTypeOf(value).toEqualTypeOf<Tree | undefined>()
    assert.deepStrictEqual(value, JSON.parse(tree))
  })

  it("with asynchronous decoding fails after one call", async () => {
    const length = SchemaTransformation.transformEffect({
      decode: (text: string) => Effect.promise(async () => text.length),
      encode: (size: number) => Effect.succeed("x".repeat(size))
    })
    const output = Schema.Struct({ name: Schema.String.pipe(Schema.decodeTo(Schema.Finite, length)) })
    const { ending, spend } = await conduct({ ...answering('{"name":"Ulm"}'), output })
    assert.deepStrictEqual([ending, spend.calls], ["failed", 1])
  })
})

it("a value of a JSON Schema recurs by reference, and has the type argument", async () => {
  const node = {
    type: "object",
    properties: { name: { type: "string" }, parts: { type: "array", items: { $ref: "#/$defs/node" } } },
    required: ["name", "parts"],
    additionalProperties: false
  }
  const output = { $ref: "#/$defs/node", $defs: { node } }
  const { value } = await conduct<Tree>({ ...answering(tree), output })
  expectTypeOf(value).toEqualTypeOf<Tree | undefined>()
  assert.deepStrictEqual(value, JSON.parse(tree))
  const wrong = await conduct<Tree>({ ...answering('{"name":"a","parts":[{"name":1}]}'), output })
  assert.strictEqual(wrong.ending, "failed")
})
