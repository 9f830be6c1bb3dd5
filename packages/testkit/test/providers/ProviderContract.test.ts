import { assert, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import { OpenAiChat, ProviderContract } from "../../src/providers.ts"
import { type Defect, makeWorker } from "./provider.ts"

const options = (defect?: Defect): ProviderContract.Options => ({
  name: defect ?? "sound",
  dialect: OpenAiChat.compatible({ reasoningField: "reasoning_content" }),
  make: (connection) => makeWorker(connection, defect)
})

const undressed = "this provider of the tests finds its key only as it is"

const undressedGaps = Object.fromEntries(
  [
    "base64",
    "the base64 of its header",
    "the base64 of an account",
    "spaces",
    "tags",
    "marks that nobody sees",
    "marks of direction"
  ].map((dress) => [`vendor/secret/${dress}`, undressed])
)

ProviderContract.contract({
  ...options(),
  gaps: undressedGaps,
  describe,
  it
})

const ofWholeAnswers: ProviderContract.Options = {
  ...options("asks for whole answers"),
  name: "one that does not stream",
  streams: false
}

ProviderContract.contract({ ...ofWholeAnswers, gaps: undressedGaps, describe, it })

const failsOf = async (defect: Defect, id: string): Promise<string | undefined> => {
  const one = ProviderContract.cases.find((one) => one.id === id)
  assert.isDefined(one, `there is no case ${id}`)
  return ProviderContract.check(one, options(defect)).then(
    () => undefined,
    (error) => String(error)
  )
}

/** The expected finding for each defect: the case, and its message. */
const found: ReadonlyArray<readonly [Defect, string, RegExp]> = [
  ["retries", "fault/status/503", /asked for again/],
  ["ends when cut", "fault/cut/end", /must fail with Network or Malformed, but it ended well/],
  ["ends when cut", "fault/cut/last", /but it ended well/],
  ["shows its key", "secret/echo/authentication", /The key shows/],
  ["shows its key", "failure/10-megabytes", /The message has \d+ characters/],
  ["drops the seed", "setting/seed", /4711/],
  ["rejects the seed", "setting/seed", /declare it: settings: \{ seed: \{ type: "rejected"/],
  ["goes on when interrupted", "interruption/in-stream", /still open 100 ms after/],
  ["goes on when interrupted", "interruption/before-answer", /still open 100 ms after/],
  ["answers at the end", "answer/as-it-comes", /0 of 2 parts have come/],
  ["answers at the end", "interruption/enough", /has not come in 2 s/],
  ["asks for whole answers", "answer/as-declared", /What it declares in `streams` is not so/],
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
  it("does not run stream cases for a provider without streams, and reports it", () => {
    const tests = [...suite({ streams: false }).keys()]
    assert.include(tests[0], "streams: false")
    for (const id of ["answer/as-it-comes", "interruption/enough", "failure/in-stream/overloaded"]) {
      assert.isFalse(
        tests.some((name) => name.startsWith(id)),
        id
      )
    }
    assert.isTrue(tests.some((name) => name.startsWith("interruption/in-stream")))
  })

  it("finds out a provider that declares streams: false, and streams", async () => {
    const tests = suite({ streams: false })
    assert.match(await errorOf(named(tests, "answer/as-declared")[1]), /What it declares in `streams` is not so/)
  })

  it("ends a case that gets nowhere, in seconds", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] })
    try {
      const stuck = { id: "stuck", name: "waits without end", run: () => new Promise<never>(() => {}) }
      const ended = ProviderContract.check(stuck, options()).then(() => "it passed", String)
      await vi.advanceTimersByTimeAsync(10_000)
      assert.match(await ended, /has not ended within 10 s/)
    } finally {
      vi.useRealTimers()
    }
  })

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

  it("fails for a gap that passes", async () => {
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
