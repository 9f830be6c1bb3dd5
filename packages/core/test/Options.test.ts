import { assert, describe, it } from "vitest"
import * as Options from "../src/Options.ts"

const problem = (options: unknown, row: Options.Table | Options.Shape): string => {
  try {
    Options.check("make", options, row)
    return "none"
  } catch (error) {
    assert.instanceOf(error, Options.OptionsError)
    return error.detail
  }
}

const limits = Options.table(
  { low: Options.number(0, 1), high: Options.whole(0) },
  { rules: [Options.ordered("low", "high")] }
)

const table = Options.table(
  {
    question: Options.text,
    limits,
    members: Options.listOf({ id: Options.name }),
    headers: Options.recordOf(Options.text),
    critic: Options.aFunction,
    threshold: Options.number(0)
  },
  {
    required: ["question"],
    called: { prompt: "question", maxTokens: "limits: { high }" },
    rules: [Options.needs("threshold", "critic"), Options.excludes("members", "headers")]
  }
)

describe("the checker of options", () => {
  const ask = { question: "What?" }

  it.each<[string, unknown, string]>([
    ["right options", { ...ask, limits: { low: 1, high: 2 }, critic: undefined }, "none"],
    ["a habitual name", { prompt: "What?" }, 'option "prompt" does not exist. Use "question".'],
    [
      "a habitual name in another case",
      { max_tokens: 3 },
      'option "max_tokens" does not exist. Use "limits: { high }".'
    ],
    ["a misspelt name", { queston: "" }, 'option "queston" does not exist. Did you mean "question"?'],
    [
      "a nested unknown name",
      { ...ask, limits: { hgh: 1 } },
      'option "limits.hgh" does not exist. Did you mean "limits.high"?'
    ],
    [
      "an own __proto__",
      JSON.parse('{"question":"","__proto__":1}'),
      'option "__proto__" does not exist. Options: question,'
    ],
    ["the name of a method", { ...ask, toString: 1 }, 'option "toString" does not exist.'],
    ["too much", { ...ask, limits: { low: 1.5 } }, '"limits.low" must be a number from 0 to 1, not 1.5.'],
    ["NaN", { ...ask, limits: { low: Number.NaN } }, '"limits.low" must be a number from 0 to 1, not NaN.'],
    [
      "no whole number",
      { ...ask, limits: { high: 0.5 } },
      '"limits.high" must be a whole number of at least 0, not 0.5.'
    ],
    ["a whole number beyond exactness", { ...ask, limits: { high: 1e300 } }, "not 1e+300."],
    [
      "an infinite number",
      { ...ask, threshold: Infinity },
      '"threshold" must be a number from 0 to 9007199254740991, not Infinity.'
    ],
    [
      "a member of another kind",
      { ...ask, members: [{ id: "a" }, { id: "" }] },
      '"members[1].id" must be a non-empty string'
    ],
    ["no list", { ...ask, members: { id: "a" } }, '"members" must be a list, not an object with the key id.'],
    ["a list for an object", { ...ask, limits: [] }, '"limits" must be an object, not an empty list.'],
    ["headers of the Fetch API", { ...ask, headers: new Headers({ a: "b" }) }, "must be an object, not a Headers."],
    ["a map for options", new Map(), "expected a single options object, make({ question }), not a Map."],
    ["a promise of options", Promise.resolve(ask), "not a promise (await it)."],
    ["a value of a record", { ...ask, headers: { "x-a": 1 } }, '"headers["x-a"]" must be a text, not 1.'],
    ["an option without what it needs", { ...ask, threshold: 1 }, '"threshold" needs "critic".'],
    [
      "two that exclude each other",
      { ...ask, members: [], headers: {} },
      '"members" and "headers" cannot be used together.'
    ],
    [
      "limits in the wrong order",
      { ...ask, limits: { low: 1, high: 0 } },
      'in "limits", "low" must be at most "high", 0, not 1.'
    ],
    ["a missing option", {}, '"question" is missing: expected a text.'],
    ["no object", 3, "expected a single options object, make({ question }), not 3."]
  ])("names %s", (_, options, expected) => {
    assert.include(problem(options, table), expected)
  })

  it.each(["sk-proj-abc", "Bearer abc", "https://me:secret@host"])("does not repeat the credential %s", (secret) => {
    assert.strictEqual(
      problem({ ...{ question: "" }, limits: secret }, table),
      '"limits" must be an object, not a string.'
    )
  })
})
