/** Cases for settings: each is passed on in the vendor's format or rejected by name, and never dropped silently. */
import assert from "node:assert/strict"
import type { WorkerRequest } from "@divisi/core/Worker"
import type { Sent } from "../../Dialect.ts"
import type { Case } from "../../ProviderContract.ts"
import * as Script from "../../Script.ts"
import { assertAccepts, assertFails, assertSucceeds, type Setting, type Subject } from "../subject.ts"

const ok = [Script.answer("ok")]

/** A setting, its name in errors, and a check of the request sent for it. */
interface Probe {
  readonly id: string
  readonly setting: Setting
  readonly request: Partial<WorkerRequest>
  readonly word: RegExp
  readonly check: (sent: Sent) => void
}

const probes: ReadonlyArray<Probe> = [
  {
    id: "setting/maxOutputTokens",
    setting: "maxOutputTokens",
    request: { maxOutputTokens: 1234 },
    word: /max.?output.?tokens/i,
    check: (sent) => assert.equal(sent.maxOutputTokens, 1234)
  },
  {
    id: "setting/temperature",
    setting: "temperature",
    request: { temperature: 0.7 },
    word: /temperature/i,
    check: (sent) => assert.equal(sent.temperature, 0.7)
  },
  {
    id: "setting/temperature-zero",
    setting: "temperature",
    request: { temperature: 0 },
    word: /temperature/i,
    check: (sent) => assert.equal(sent.temperature, 0)
  },
  {
    id: "setting/seed",
    setting: "seed",
    request: { seed: 4711 },
    word: /seed/i,
    check: (sent) => assert.equal(sent.seed, 4711)
  },
  {
    id: "setting/seed-zero",
    setting: "seed",
    request: { seed: 0 },
    word: /seed/i,
    check: (sent) => assert.equal(sent.seed, 0)
  },
  {
    id: "setting/stopSequences",
    setting: "stopSequences",
    request: { stopSequences: ["END", "\n\n##"] },
    word: /stop/i,
    check: (sent) => assert.deepEqual(sent.stopSequences, ["END", "\n\n##"])
  },
  {
    id: "setting/reasoning-effort",
    setting: "reasoningEffort",
    request: { reasoning: { type: "effort", effort: "low" } },
    word: /reasoning|effort|thinking/i,
    // A vendor that limits reasoning in tokens receives a budget for each effort.
    check: ({ reasoning }) =>
      assert.ok(
        (reasoning?.type === "effort" && reasoning.effort === "low") ||
          (reasoning?.type === "budget" && reasoning.tokens > 0),
        `The effort was not sent: ${JSON.stringify(reasoning)}`
      )
  },
  {
    id: "setting/reasoning-budget",
    setting: "reasoningBudget",
    request: { reasoning: { type: "budget", tokens: 2048 }, maxOutputTokens: 8192 },
    word: /reasoning|budget|thinking/i,
    check: (sent) => assert.deepEqual(sent.reasoning, { type: "budget", tokens: 2048 })
  },
  {
    id: "setting/reasoning-off",
    setting: "reasoningOff",
    request: { reasoning: { type: "off" } },
    word: /reasoning|thinking/i,
    check: (sent) => assert.deepEqual(sent.reasoning, { type: "off" })
  }
]

/** The settings that a request may allow to be left out. */
const preferences: ReadonlySet<Setting> = new Set(["temperature", "reasoningEffort", "reasoningBudget", "reasoningOff"])

const probe = async (subject: Subject, { check, request, setting, word }: Probe) => {
  const expectation = subject.options.settings?.[setting] ?? "passed"
  const outcome = await subject.ask(ok, request)
  if (expectation !== "passed" && expectation.type === "rejected") {
    const error = assertFails(outcome, "InvalidRequest")
    assert.match(error.message, word, "The error must name the setting.")
    assert.equal(outcome.server.exchanges.length, 0, "A rejected request must not be sent.")
    return
  }
  assertAccepts(outcome, setting)
  const sent = outcome.server.exchanges[0]?.sent
  assert.ok(sent)
  if (expectation === "passed") check(sent)
}

export const settings: ReadonlyArray<Case> = [
  ...probes.map(
    (one): Case => ({
      id: one.id,
      name: `passes on ${one.setting}, or rejects it by name`,
      run: (subject) => probe(subject, one)
    })
  ),
  {
    id: "setting/omitted",
    name: "leaves out a preference that it rejects, with a notice, where the request allows that",
    run: async ({ ask, options }) => {
      for (const { check, request, setting } of probes) {
        const expectation = options.settings?.[setting] ?? "passed"
        const isRejected = expectation !== "passed" && expectation.type === "rejected"
        if (!isRejected || !preferences.has(setting)) continue
        const outcome = await ask(ok, { ...request, preferences: "omit" })
        const { notices } = assertSucceeds(outcome)
        // A provider that learns what its server takes tries the setting first.
        if (notices.length === 0) check(outcome.server.exchanges[0]!.sent)
      }
    }
  },
  {
    id: "setting/none",
    name: "sends no setting that nobody asked for",
    run: async ({ ask, options }) => {
      const { server } = await ask(ok)
      const { maxOutputTokens, reasoning, seed, stopSequences, temperature } = server.exchanges[0]?.sent ?? {}
      assert.deepEqual(
        { reasoning, seed, stopSequences, temperature },
        { reasoning: undefined, seed: undefined, stopSequences: undefined, temperature: undefined }
      )
      // A limit of the provider's own would cut long answers.
      if (options.dialect.needsOutputLimit !== true) assert.equal(maxOutputTokens, undefined)
    }
  },
  {
    id: "setting/defaults",
    name: "sends the worker's own defaults, and what a request sets instead of them",
    run: async ({ call, options, serve, worker }) => {
      const server = await serve(ok)
      const temperature = options.settings?.temperature === undefined ? { temperature: 0.25 } : {}
      const one = worker(server, { defaults: { maxOutputTokens: 500, ...temperature } })
      assertSucceeds(await call(one))
      assertSucceeds(await call(one, { maxOutputTokens: 77 }))
      const [first, second] = server.exchanges.map(({ sent }) => sent)
      assert.equal(first?.maxOutputTokens, 500)
      assert.equal(second?.maxOutputTokens, 77)
      assert.equal(first?.temperature, temperature.temperature)
      assert.equal(second?.temperature, temperature.temperature)
    }
  }
]
