import { assert, describe, it } from "@effect/vitest"
import { OpenAiChat, ProviderContract } from "../../src/providers.ts"
import { type Defect, makeWorker } from "./provider.ts"

const options = (defect?: Defect): ProviderContract.Options => ({
  name: defect ?? "sound",
  dialect: OpenAiChat.compatible({ reasoningField: "reasoning_content" }),
  make: (connection) => makeWorker(connection, defect)
})

const undressed = "this provider of the tests finds its key only as it is"

ProviderContract.contract({
  ...options(),
  gaps: Object.fromEntries(
    [
      "base64",
      "the base64 of its header",
      "the base64 of an account",
      "spaces",
      "tags",
      "marks that nobody sees",
      "marks of direction"
    ].map((dress) => [`vendor/secret/${dress}`, undressed])
  ),
  describe,
  it
})

const failsOf = async (defect: Defect, id: string): Promise<string | undefined> => {
  const one = ProviderContract.cases.find((one) => one.id === id)
  assert.isDefined(one, `there is no case ${id}`)
  return ProviderContract.check(one, options(defect)).then(
    () => undefined,
    (error) => String(error)
  )
}

/** What must be found out about each defect: by which case, in which words. */
const found: ReadonlyArray<readonly [Defect, string, RegExp]> = [
  ["retries", "fault/status/503", /asked for again/],
  ["ends when cut", "fault/cut/end", /must fail with Network or Malformed, but it ended well/],
  ["ends when cut", "fault/cut/last", /but it ended well/],
  ["shows its key", "secret/echo/authentication", /The key shows/],
  ["shows its key", "failure/10-megabytes", /The message has \d+ characters/],
  ["drops the seed", "setting/seed", /4711/],
  ["goes on when interrupted", "interruption/in-stream", /still open 100 ms after/],
  ["goes on when interrupted", "interruption/before-answer", /still open 100 ms after/],
  ["answers at the end", "answer/as-it-comes", /0 of 2 parts have come/],
  ["finishes twice", "answer/text", /finishes once, not 2 times/],
  ["forgets cached tokens", "usage/cached", /cachedInputTokens is wrong/],
  ["dies of malformed events", "fault/malformed", /died instead of failing/],
  ["asks before it runs", "request/lazy", /1/],
  ["mixes calls up", "request/many", /call-/]
]

describe("the contract finds out a provider that", () => {
  for (const [defect, id, words] of found) {
    it(`${defect}, by ${id}`, async () => {
      assert.match((await failsOf(defect, id)) ?? "it passed", words)
    })
  }

  it("leaves a rejection unhandled", async () => {
    // The runner's own listeners would take it for a failure of this file.
    const listeners = process.listeners("unhandledRejection")
    process.removeAllListeners("unhandledRejection")
    try {
      assert.match((await failsOf("leaves a rejection", "failure/quota")) ?? "it passed", /A rejection is unhandled/)
    } finally {
      for (const listener of listeners) process.on("unhandledRejection", listener)
    }
  })
})

describe("the contract", () => {
  const suite = (settings: Partial<Parameters<typeof ProviderContract.contract>[0]>) => {
    const tests = new Map<string, () => Promise<void>>()
    ProviderContract.contract({
      ...options(),
      describe: (_, body) => body(),
      it: (name, body) => tests.set(name, body),
      ...settings
    })
    return tests
  }
  const named = (tests: ReadonlyMap<string, () => Promise<void>>, start: string) => {
    const entry = [...tests].find(([name]) => name.startsWith(start))
    assert.isDefined(entry, `there is no test ${start}`)
    return entry
  }
  const errorOf = (body: () => Promise<void>) => body().then(() => "it passed", String)

  it("has ids of its own for every case", () => {
    assert.strictEqual(new Set(ProviderContract.cases.map(({ id }) => id)).size, ProviderContract.cases.length)
  })

  it("lists every gap with its reason, and runs it", async () => {
    const tests = suite({ ...options("drops the seed"), gaps: { "setting/seed": "the vendor has no seed" } })
    assert.include(named(tests, "declares")[0], "gap: setting/seed: the vendor has no seed")
    const [name, run] = named(tests, "gap: setting/seed")
    assert.include(name, "the vendor has no seed")
    await run()
    assert.isFalse(tests.has("setting/seed: passes on seed, or rejects it by name"))
  })

  it("fails for a gap that is none", async () => {
    const [, run] = named(suite({ gaps: { "setting/seed": "we think so" } }), "gap: setting/seed")
    assert.match(await errorOf(run), /declared as a gap \("we think so"\), but it passes/)
  })

  it("fails for a gap that names no case", async () => {
    const [, run] = named(suite({ gaps: { "settings/seed": "typo" } }), "declares")
    assert.match(await errorOf(run), /No case of the contract is called settings\/seed/)
  })

  it("fails for a setting that is declared as rejected and is passed on", async () => {
    const tests = suite({ settings: { seed: { type: "rejected", reason: "no seed" } } })
    assert.match(await errorOf(named(tests, "setting/seed")[1]), /must fail with InvalidRequest, but it ended well/)
  })
})
