import { type Critic, Transcript, type Workflow } from "@divisi/core"
import type * as Policy from "@divisi/core/Policy"
import type { RunSettings } from "@divisi/core/RunSettings"
import type * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { worker } from "./teams.ts"

/** An answer that reads so many tokens, so that who has read them shows in any sum. */
const reads = (inputTokens: number, text = "42"): ScriptedWorker.Reply => ({
  parts: [
    { type: "text", text },
    { type: "finish", reason: "stop", usage: { inputTokens, outputTokens: 1 } }
  ]
})

const step = (worker: number, more: Partial<Workflow.Workflow["steps"][number]> = {}) => ({
  worker,
  subtask: "",
  access: "all" as const,
  ...more
})

/** A policy that plans the rounds one after another. */
const plans = (...rounds: ReadonlyArray<Workflow.Workflow>): Policy.Policy => ({
  name: "plans",
  propose: ({ round }) => Effect.succeed({ workflow: rounds[round] ?? { steps: [] } })
})

/** Takes the first answer, whatever comes later. */
const critic: Critic.Critic = {
  name: "asks",
  score: ({ answer, ask }) =>
    Effect.as(ask(worker("judge", reads(100_000)), { messages: [{ role: "user", content: "Good?" }] }), {
      correct: false,
      score: answer === "first" ? 0.6 : 0.3
    })
}

interface Case {
  readonly policy: Policy.Policy
  readonly settings?: RunSettings
  /** The workers' texts; each worker reads ten times as much as the one before. */
  readonly says?: ReadonlyArray<string>
  readonly answer: number
  readonly orchestration: number
}

const cases: Readonly<Record<string, Case>> = {
  "the last step, and not those that advise it": {
    policy: plans({ steps: [step(0), step(1)] }),
    answer: 10,
    orchestration: 1
  },
  "the first of several that vote": {
    policy: plans({ steps: [step(1, { access: [] }), step(0, { access: [] })], answer: "majority" }),
    answer: 10,
    orchestration: 1
  },
  "the one that answers within the step that answers": {
    policy: {
      name: "delegates",
      propose: ({ self }) => Effect.succeed({ workflow: { steps: [step(0), step(self ? 3 : 1)] } })
    },
    settings: { self: { maxDepth: 1 } },
    answer: 10,
    orchestration: 2
  },
  "none of those that judge it": {
    policy: plans({ steps: [step(0), step(1, { check: { by: 2, onFailure: "continue" } })] }),
    says: ["42", "42", "Verdict: right"],
    answer: 10,
    orchestration: 101
  },
  "the last of several rounds": {
    policy: plans({ steps: [step(0)] }, { steps: [step(2), step(1)] }),
    settings: { recursion: 1 },
    answer: 10,
    orchestration: 101
  },
  "the round before one that lets its answer stand": {
    policy: plans({ steps: [step(2), step(1)] }, { steps: [] }),
    settings: { recursion: 1 },
    answer: 10,
    orchestration: 100
  },
  "the best round, where a critic scores them": {
    policy: plans({ steps: [step(1)] }, { steps: [step(0)] }),
    settings: { recursion: 1, critic },
    says: ["second", "first"],
    answer: 10,
    orchestration: 200_001
  },
  "one that stands, as what sees it failed its check": {
    policy: {
      ...plans({ steps: [step(1), step(0, { check: { by: "right", onFailure: "revise" } })] }),
      checks: { right: () => "It is wrong." },
      revise: () => Effect.succeed({ type: "stop", answer: { round: 0, step: 0 } })
    },
    answer: 10,
    orchestration: 1
  }
}

describe("the usage of an answer is that of the step that answers:", () => {
  for (const [name, { answer, orchestration, policy, says = [], settings = {} }] of Object.entries(cases)) {
    it(name, () => {
      const pool = WorkerPool.makeUnsafe(["a", "b", "c"].map((id, at) => worker(id, reads(10 ** at, says[at]))))
      return serving({ pool, policy, settings }, async ({ client, url }) => {
        const body = { model: "divisi", messages: [{ role: "user" as const, content: "What is 6 times 7?" }] }
        const { data, response } = await client.chat.completions.create(body).withResponse()
        const details = data.usage?.prompt_tokens_details as unknown as { readonly orchestration_input_tokens: number }
        assert.deepStrictEqual([data.usage?.prompt_tokens, details.orchestration_input_tokens], [answer, orchestration])
        // The record of the run says the same.
        const { transcript } = await (await fetch(`${url}/runs/${response.headers.get("x-divisi-run")}`)).json()
        const read = { answer: 0, others: 0 }
        for (const { paid, purpose } of Transcript.payments(transcript)) {
          read[purpose === "answer" ? "answer" : "others"] += paid.usage.inputTokens
        }
        assert.deepStrictEqual(read, { answer, others: orchestration })
      })
    })
  }
})
