import { readFileSync } from "node:fs"
import path from "node:path"
import type { Transcript } from "@divisi/core"
import * as Wire from "@divisi/core/Wire"
import {
  AnthropicMessages,
  GoogleGenerateContent,
  OpenAiChat,
  OpenAiResponses,
  Script,
  WireServer
} from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { divisi, inFolder } from "./process.ts"
import * as Vendors from "./vendors.ts"

const team = ["--pool", Vendors.pool, "--policy", Vendors.policy]

const readTranscript = (file: string): Transcript.Transcript =>
  Result.getOrThrow(Wire.readTranscript(JSON.parse(readFileSync(file, "utf8"))))

const secrets = Object.values(Vendors.keys)

describe.concurrent("three vendors at once", () => {
  it("answer within budget although one of them refuses half of its calls, and the transcript says it all", async () => {
    await using vendors = await Vendors.start()
    await inFolder(async (folder) => {
      const file = path.join(folder, "run.json")
      const { code, errors, output } = await divisi(
        ["run", Vendors.question, ...team, "--max-cost", "1", "--timeout", "50s", "--transcript", file],
        { cwd: folder, environment: vendors.environment }
      )
      assert.deepStrictEqual([code, output], [0, `${Vendors.answer}\n`], errors)

      const transcript = readTranscript(file)
      assert.strictEqual(transcript.ending, "answered")
      assert.strictEqual(transcript.answer, Vendors.answer)
      const round = transcript.rounds[0]!
      assert.strictEqual(round.policy, "openai:gpt-5-mini")
      assert.deepStrictEqual(
        round.steps.map(({ state, worker }) => [worker, state]),
        ["anthropic:claude-sonnet-4-6", "google:gemini-2.5-pro", "anthropic:claude-sonnet-4-6", "openai:gpt-5"].map(
          (worker) => [worker, "answered"]
        )
      )
      // Every request that reached a vendor is in the transcript: paid for, or lost.
      const lost = round.steps.flatMap((step) => step.lost)
      assert.isAtLeast(lost.length, 2)
      for (const { reason } of lost) assert.strictEqual(reason?._tag, "Overloaded")
      const { anthropic, google, openai } = vendors
      assert.deepStrictEqual(
        [openai.exchanges.length, anthropic.exchanges.length, google.exchanges.length],
        [2, 2 + lost.length, 1]
      )
      const spend = transcript.spend!
      assert.strictEqual(spend.unpricedCalls, 0)
      assert.isAbove(spend.costUsd, 0)
      assert.isBelow(spend.costUsd, 0.05)

      assert.strictEqual(openai.exchanges[0]!.sent.key, Vendors.keys.OPENAI_API_KEY)
      for (const text of [output, errors, readFileSync(file, "utf8")]) {
        for (const secret of secrets) assert.notInclude(text, secret)
      }
    })
  })

  it("are not requested again if their answers are cached", async () => {
    await using vendors = await Vendors.start()
    await inFolder(async (folder) => {
      const run = (seed: string) =>
        divisi(["run", Vendors.question, ...team, "--cache", "cache.sqlite", "--seed", seed, "--json"], {
          cwd: folder,
          environment: vendors.environment
        })
      const first = await run("1")
      assert.strictEqual(first.code, 0)
      const asked = () => [vendors.openai, vendors.anthropic, vendors.google].map(({ exchanges }) => exchanges.length)
      const before = asked()
      const second = await run("1")
      assert.deepStrictEqual([second.code, second.errors], [0, ""])
      assert.deepStrictEqual(asked(), before)
      const ended = Result.getOrThrow(Wire.decodeRunEvents(second.output)).at(-1)
      assert.deepStrictEqual(ended?.type === "run-finished" && [ended.answer, ended.spend.costUsd], [Vendors.answer, 0])
    })
  })

  it("are checked by `divisi pool check`, each in a line, errors and all", async () => {
    await using vendors = await Vendors.start()
    const args = ["pool", "check", "--pool", `${Vendors.pool},anthropic:claude-haiku-4-5`]
    const { code, errors, output } = await divisi(args, { environment: vendors.environment })
    // The scripted vendor sends a block of a kind that no client knows.
    assert.deepStrictEqual([code, errors.replace(/^.*a block of type .* is skipped\n$/, "")], [1, ""])
    assert.match(output, /✓ openai:gpt-5 +(?:\d+ ms|[\d.]+ s) +[\d.]+ +\$1\.25 \/ \$10\.00/)
    assert.match(output, /✓ google:gemini-2\.5-pro /)
    assert.match(output, /^✗ anthropic:claude-\S+ is overloaded: .*\.$/m)
    assert.include(output, "3 of 4 workers reachable")
    for (const secret of secrets) assert.notInclude(output, secret)
    const lines = (await divisi([...args, "--json"], { environment: vendors.environment })).output.trim().split("\n")
    assert.deepStrictEqual(
      lines.map((line) => (JSON.parse(line) as { worker: string }).worker),
      args[3]!.split(",")
    )
  })

  const planners = [
    ["openai", OpenAiResponses.dialect, { OPENAI_API_KEY: "key" }, "OPENAI_BASE_URL", "/v1"],
    ["anthropic", AnthropicMessages.dialect, { ANTHROPIC_API_KEY: "key" }, "ANTHROPIC_BASE_URL", ""],
    ["google", GoogleGenerateContent.dialect, { GEMINI_API_KEY: "key" }, "GEMINI_BASE_URL", ""],
    ["my-server", OpenAiChat.dialect, {}, "MY_SERVER_BASE_URL", "/v1"]
  ] as const
  for (const [vendor, dialect, keys, variable, path] of planners) {
    it(`can plan: a chat model of ${vendor} is the Conductor, with a seed or without`, async () => {
      const plan = 'model_id = [0]\nsubtasks = ["Say it."]\naccess_list = [[]]'
      await using server = await WireServer.start(dialect, (_, index) =>
        Script.answer(index === 0 ? plan : "It is 42.")
      )
      const team = ["--pool", `${vendor}:worker`, "--policy", `${vendor}:planner`, "--seed", "3"]
      const { code, errors, output } = await divisi(["run", "What is it?", ...team], {
        environment: { ...keys, [variable]: `${server.url}${path}` }
      })
      assert.strictEqual(code, 0)
      assert.include(errors, `plan     ${vendor}:planner`)
      assert.strictEqual(output, "It is 42.\n")
      assert.deepStrictEqual(
        server.exchanges.map(({ sent }) => sent.model),
        ["planner", "worker"]
      )
    })
  }
})

describe.concurrent("what is missing", () => {
  const nothing = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: "", GEMINI_API_KEY: "", GOOGLE_API_KEY: "" }

  it("is named before anything is asked", async () => {
    const { code, errors, output } = await divisi(["run", "Why?", ...team], { environment: nothing })
    assert.deepStrictEqual([code, output], [2, ""])
    assert.strictEqual(
      errors,
      [
        "divisi: openai:gpt-5 needs a key: set OPENAI_API_KEY.",
        "anthropic:claude-sonnet-4-6 needs a key: set ANTHROPIC_API_KEY.",
        "google:gemini-2.5-pro needs a key: set GEMINI_API_KEY or GOOGLE_API_KEY.\n"
      ].join("\n")
    )
    const policy = await divisi(["run", "Why?", "--policy", "openai:gpt-5-mini"], { environment: nothing })
    assert.deepStrictEqual(
      [policy.code, policy.errors],
      [2, "divisi: openai:gpt-5-mini needs a key: set OPENAI_API_KEY.\n"]
    )
  })

  it("can be a vendor, a worker, or an invalid cache", async () => {
    const unknown = await divisi(["run", "Why?", "--pool", "nobody:model"])
    assert.strictEqual(unknown.code, 2)
    assert.include(
      unknown.errors,
      "or set NOBODY_BASE_URL to the URL of a server that supports the Chat Completions API."
    )
    const url = await divisi(["run", "Why?", "--pool", "http://me:secret@localhost:1/v1:tiny"])
    assert.strictEqual(url.code, 2)
    assert.include(url.errors, "Set LOCAL_BASE_URL to the URL of the server, and use local:<model>.")
    assert.notInclude(url.errors, "secret")
    const worker = await divisi(["run", "Why?", "--policy", "model:nobody"])
    assert.strictEqual(worker.code, 2)
    assert.include(worker.errors, "needs a worker in the pool")
    const cache = await divisi(["run", "What is 2 + 2?", "--cache", "package.json"])
    assert.strictEqual(cache.code, 2)
    assert.include(
      cache.errors,
      "package.json is not a Divisi file, or its header is damaged. The file was not changed"
    )
  })
})
