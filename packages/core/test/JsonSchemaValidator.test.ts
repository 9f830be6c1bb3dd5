// biome-ignore-all lint/suspicious/noThenProperty: a keyword of JSON Schema
import { conduct, matches, single, tool, worker } from "@divisi/core/promise"
import { assert, describe, expect, it } from "@effect/vitest"
import * as JsonSchemaValidator from "../src/task/JsonSchemaValidator.ts"

type Schema = Readonly<Record<string, unknown>>

const applicators: Readonly<Record<string, (target: Schema) => Schema>> = {
  anyOf: (target) => ({ anyOf: [target, target] }),
  oneOf: (target) => ({ oneOf: [target, target] }),
  allOf: (target) => ({ allOf: [target, target] }),
  not: (target) => ({ not: target, allOf: [target] }),
  "if and then": (target) => ({ if: target, then: target, else: target }),
  dependentSchemas: (target) => ({ dependentSchemas: { a: target, b: target } }),
  dependencies: (target) => ({ dependencies: { a: target, b: target } }),
  properties: (target) => ({ properties: { a: target, b: target } }),
  items: (target) => ({ items: target, contains: target }),
  prefixItems: (target) => ({ prefixItems: [target, target] }),
  "unevaluated parts": (target) => ({ unevaluatedProperties: target, unevaluatedItems: target }),
  "names of properties": (target) => ({ propertyNames: target, additionalProperties: target })
}

/** A schema whose references double with each of its levels. */
const doubling = (levels: number, apply: (target: Schema) => Schema, under = "$defs"): Schema => {
  const names = Array.from({ length: levels }, (_, at) => `d${at}`)
  const rules = names.map((name, at) => [name, apply({ $ref: `#/${under}/d${at + 1}` })])
  return { $ref: `#/${under}/d0`, [under]: { ...Object.fromEntries(rules), [`d${levels}`]: { type: "number" } } }
}

const problemsOf = (schema: Schema, value: unknown) => JsonSchemaValidator.make(schema).problemsOf(value)

const nested = (levels: number, inner: unknown = {}): unknown => {
  let value = inner
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}

describe("a schema from outside", () => {
  for (const [name, apply] of Object.entries(applicators)) {
    for (const under of ["$defs", "definitions"]) {
      it(`whose references double in ${name} under ${under} is refused beyond its limit`, () => {
        expect(() => JsonSchemaValidator.make(doubling(40, apply, under))).toThrow(/more than 10000 schemas/)
        const { size } = JsonSchemaValidator.make(doubling(5, apply, under))
        assert.isAtMost(size, JsonSchemaValidator.maxSchemaNodes)
      })
    }
  }

  it("counts once for each path to it, recursive or not", () => {
    const object = (a: string, b: string) => ({
      properties: { a: { $ref: `#/$defs/${a}` }, b: { $ref: `#/$defs/${b}` } }
    })
    const recursive = { d0: object("d1", "d4"), d1: object("d1", "d3"), d3: object("d0", "d3") }
    const schema = { ...object("d0", "d4"), $defs: { ...recursive, d4: { items: { $ref: "#/$defs/d0" } } } }
    assert.strictEqual(JsonSchemaValidator.make(schema).size, 33)
    const plain = doubling(3, (target) => ({ properties: { a: target, b: target } }))
    assert.strictEqual(JsonSchemaValidator.make(plain).size, 30)
  })

  it("that leads back to itself without end is refused", () => {
    const endless = [
      { $ref: "#" },
      { $defs: { a: { $ref: "#/$defs/b" }, b: { allOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" },
      { anyOf: [{ type: "string" }, { not: { $ref: "#" } }] }
    ]
    for (const schema of endless) expect(() => JsonSchemaValidator.make(schema)).toThrow(/endless loop/)
    const tree = { type: "object", properties: { left: { $ref: "#" }, right: { $dynamicRef: "#" } } }
    assert.strictEqual(JsonSchemaValidator.make(tree).size, 5)
  })

  it("that is nested too deeply, too large, or no schema is refused in words", () => {
    const deep = Array.from({ length: 5_000 }).reduce<Schema>((schema) => ({ items: schema }), {})
    expect(() => JsonSchemaValidator.make(deep)).toThrow(/200 levels/)
    const chain = Array.from({ length: 5_000 }, (_, at) => [`d${at}`, { $ref: `#/$defs/d${at + 1}` }])
    expect(() =>
      JsonSchemaValidator.make({ $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(chain), d5000: {} } })
    ).toThrow(/200 levels/)
    expect(() => JsonSchemaValidator.make({ enum: Array.from({ length: 200_000 }, (_, at) => at) })).toThrow(
      /100000 values/
    )
    expect(() => JsonSchemaValidator.make({ const: nested(5_000) })).toThrow(/200 levels/)
    const circular: Record<string, unknown> = {}
    circular.items = circular
    expect(() => JsonSchemaValidator.make(circular)).toThrow(/200 levels/)
    expect(() => JsonSchemaValidator.make({ type: "strnig" })).toThrow(/"strnig"/)
    expect(() => JsonSchemaValidator.make({ $ref: "https://example.com/x" })).toThrow(/does not resolve to a schema/)
    expect(() => JsonSchemaValidator.make({ properties: { a: 5 } })).toThrow(/instead of a schema/)
  })
})

describe("a check", () => {
  it("computes the result of a reference and a value once", () => {
    // Both branches ask for the same parts: 2 to the 150th without memory.
    const branch = { additionalProperties: { $ref: "#/$defs/t" } }
    const schema = { $defs: { t: { allOf: [branch, branch, { type: "object" }] } }, $ref: "#/$defs/t" }
    assert.isUndefined(problemsOf(schema, nested(150)))
    expect(problemsOf(schema, nested(150, "x"))).toMatch(/Expected object, got "x"\n {2}at \["a"\]/)
  })

  it("ends after a fixed number of steps, whatever the schema and the value are", () => {
    const many = Array.from({ length: 100_000 }, (_, at) => at)
    const wide = Object.fromEntries(many.map((at) => [`p${at}`, at]))
    const each = (length: number, schema: (at: number) => Schema) => Array.from({ length }, (_, at) => schema(at))
    const costly: ReadonlyArray<readonly [Schema, unknown]> = [
      [{ items: { anyOf: each(9_000, (at) => ({ const: `k${at}` })) } }, many.map(String)],
      [{ allOf: each(9_000, (at) => ({ minLength: at })) }, "x".repeat(10_000_000)],
      [{ allOf: each(9_000, () => ({ uniqueItems: true })) }, many],
      [{ allOf: each(4_000, () => ({ contains: { const: -1 }, minContains: 0 })) }, many],
      [{ anyOf: each(4_000, () => ({ additionalProperties: false })) }, wide],
      [{ anyOf: each(9_000, () => ({ maxProperties: 1 })) }, wide],
      [{ allOf: each(9_000, () => ({ enum: [{ a: 1 }] })) }, wide],
      [{ unevaluatedProperties: false, allOf: each(900, () => ({ additionalProperties: {} })) }, wide],
      [{ unevaluatedItems: false, allOf: each(900, () => ({ items: {} })) }, many]
    ]
    for (const [schema, value] of costly)
      expect(problemsOf(schema, value)).toMatch(/too many parts|Expected|Unexpected/)
    expect(problemsOf({ additionalProperties: { $ref: "#" } }, nested(100_000))).toMatch(/200 levels/)
  })

  it("runs no pattern, and refuses nothing that only a pattern could decide", () => {
    const open = "^(a+)+$"
    const value = `${"a".repeat(60)}!`
    const schemas = [
      { pattern: open },
      { not: { pattern: open } },
      { oneOf: [{ pattern: open }, { pattern: "!" }] },
      { if: { pattern: open }, then: false },
      { propertyNames: { pattern: open } }
    ]
    for (const schema of schemas) assert.isUndefined(problemsOf(schema, value))
    assert.isUndefined(
      problemsOf({ patternProperties: { [open]: false }, additionalProperties: false }, { [value]: 1 })
    )
  })

  it("reports a limited number of problems, each with its place", () => {
    const problems = problemsOf({ items: { type: "string" } }, Array.from({ length: 1_000 }).fill(1))
    assert.strictEqual(problems?.match(/Expected string, got 1/g)?.length, 10)
    expect(
      problemsOf({ properties: { a: { anyOf: [{ type: "null" }, { type: "number", minimum: 3 }] } } }, { a: 2 })
    ).toBe('Expected at least 3, got 2\n  at ["a"]')
  })
})

/** Rows of keyword, schema, a value that it allows, one that it does not. */
const keywords: ReadonlyArray<readonly [string, Schema, unknown, unknown]> = [
  ["type", { type: ["integer", "null"] }, 1.0, 1.5],
  ["enum", { enum: [{ a: [1, 2], b: 1 }, "x"] }, { b: 1, a: [1, 2] }, { a: [2, 1], b: 1 }],
  ["const", { const: null }, null, 0],
  ["multipleOf", { multipleOf: 0.01 }, 0.07, 0.075],
  ["exclusiveMinimum", { exclusiveMinimum: 3 }, 3.1, 3],
  ["exclusiveMinimum of draft 4", { minimum: 3, exclusiveMinimum: true }, 4, 3],
  ["maxLength", { maxLength: 2 }, "💩💩", "abc"],
  ["minItems", { minItems: 1 }, [1], []],
  ["maxProperties", { maxProperties: 1 }, { a: 1 }, { a: 1, b: 2 }],
  ["required", { required: ["__proto__", "toString"] }, JSON.parse('{"__proto__":1,"toString":2}'), {}],
  ["dependentRequired", { dependentRequired: { a: ["b"] } }, { b: 1 }, { a: 1 }],
  ["dependencies", { dependencies: { a: ["b"], c: { required: ["d"] } } }, { a: 1, b: 1 }, { c: 1 }],
  ["additionalProperties", { properties: { a: {} }, additionalProperties: false }, { a: 1 }, { b: 1 }],
  ["propertyNames", { propertyNames: { maxLength: 1 } }, { a: 1 }, { ab: 1 }],
  ["prefixItems", { prefixItems: [{ type: "number" }], items: false }, [1], [1, 2]],
  ["items of draft 7", { items: [{ type: "number" }], additionalItems: { type: "string" } }, [1, "a"], [1, 2]],
  ["contains", { contains: { const: 1 }, maxContains: 1 }, [1, 2], [1, 1]],
  [
    "uniqueItems",
    { uniqueItems: true },
    [{ a: 1, b: 2 }, { a: 1 }],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 }
    ]
  ],
  ["not", { not: { type: "string" } }, 1, "x"],
  ["oneOf", { oneOf: [{ minimum: 2 }, { maximum: 3 }] }, 4, 2.5],
  ["if", { if: { type: "string" }, then: { minLength: 2 }, else: { type: "number" } }, "ab", "a"],
  ["$anchor", { $defs: { a: { $anchor: "n", type: "number" } }, items: { $ref: "#n" } }, [1], ["x"]],
  [
    "$id",
    { $id: "https://x.test/s", items: { $ref: "https://x.test/s#/$defs/a" }, $defs: { a: { const: 1 } } },
    [1],
    [2]
  ],
  ["an escaped pointer", { $defs: { "a/b~c d": { const: 1 } }, items: { $ref: "#/$defs/a~1b~0c%20d" } }, [1], [2]],
  [
    "unevaluatedProperties",
    { anyOf: [{ properties: { a: { type: "number" } }, required: ["a"] }, true], unevaluatedProperties: false },
    { a: 1 },
    { a: 1, b: 2 }
  ],
  ["unevaluatedItems", { allOf: [{ prefixItems: [true] }], unevaluatedItems: false }, [1], [1, 2]]
]

describe("a keyword", () => {
  for (const [name, schema, right, wrong] of keywords) {
    it(`${name} is checked`, () => {
      assert.isUndefined(problemsOf(schema, right))
      assert.isDefined(problemsOf(schema, wrong))
    })
  }
})

describe("a run", () => {
  let calls = 0
  const answer = () => {
    calls += 1
    return "1"
  }
  const pool = [worker({ id: "w", capabilities: { tools: true, jsonSchema: true }, answer })]

  it("refuses a shape, tools and a check whose references expand beyond the limit before its first call", async () => {
    const input = doubling(40, applicators.anyOf!)
    const asShape = await conduct({
      question: "q",
      pool,
      policy: single(0),
      output: { type: "json-schema", name: "n", schema: input }
    })
    const asTool = await conduct({ question: "q", pool, policy: single(0), tools: [tool({ name: "t", input })] })
    for (const { detail, ending } of [asShape, asTool]) {
      assert.deepStrictEqual([ending, calls], ["failed", 0])
      expect(detail).toMatch(/more than 10000 schemas/)
    }
    const check = matches(input) as (answer: string, ...rest: ReadonlyArray<unknown>) => Promise<boolean>
    await expect(check("1")).rejects.toThrow(/10000 schemas/)
  })

  it("refuses tools whose schemas are too many together", async () => {
    const input = doubling(7, applicators.properties!)
    const tools = Array.from({ length: 400 }, (_, at) => tool({ name: `t${at}`, input: { ...input } }))
    const { detail } = await conduct({ question: "q", pool, policy: single(0), tools })
    expect(detail).toMatch(/the tools have more than 50000 schemas/)
  })
})
