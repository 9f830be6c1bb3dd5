/** Requests that must end before a worker is called: a limit that cannot hold, a client that has left. */
import { Critic } from "@divisi/core"
import type * as Policy from "@divisi/core/Policy"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import type * as NodeServer from "../src/NodeServer.ts"
import { serving } from "./serving.ts"
import { said, team, worker } from "./teams.ts"

const members = () => {
  const all = ["one", "two", "three"].map((id) => worker(id, said("Yes.")))
  const calls = () => all.reduce((sum, one) => sum + one.calls.length, 0)
  return { all, calls }
}

const unpriced = (member: Worker): Worker => ({ ...member, pricing: undefined })

const wires = {
  "chat/completions": { messages: [{ role: "user", content: "Why?" }] },
  responses: { input: "Why?" },
  messages: { max_tokens: 100, messages: [{ role: "user", content: "Why?" }] }
}

const ask = (url: string, wire: string, more: object = {}, signal?: AbortSignal) =>
  fetch(`${url}/${wire}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "divisi", ...wires[wire as keyof typeof wires], ...more }),
    ...(signal === undefined ? {} : { signal })
  })

describe("a limit of cost and a worker without a price", () => {
  const settings = { budget: { costUsd: 10 } }
  const cases: Readonly<Record<string, (all: ReadonlyArray<Worker>) => NodeServer.Options>> = {
    "in the last step of a plan": ([one, two, three]) => ({ ...team(one!, two!, unpriced(three!)), settings }),
    "as the critic": ([one, two, three]) => ({
      ...team(one!, two!, three!),
      settings: { ...settings, critic: Critic.fromWorker(unpriced(worker("three", said("Score: 10")))) }
    })
  }
  for (const [name, options] of Object.entries(cases)) {
    for (const wire of Object.keys(wires)) {
      it(`${name} refuse the request before a call: ${wire}`, async () => {
        const { all, calls } = members()
        await serving(options(all), async ({ url }) => {
          const response = await ask(url, wire)
          const body = await response.text()
          assert.isAtLeast(response.status, 400, body)
          assert.match(body, /does not know the price of three\./)
          assert.strictEqual(calls(), 0)
        })
      })
    }
  }
})

describe("a client that leaves before the first call", () => {
  for (const wire of Object.keys(wires)) {
    for (const stream of [false, true]) {
      it(`has no worker called: ${wire}, ${stream ? "streamed" : "whole"}`, async () => {
        const { all, calls } = members()
        const begun = Promise.withResolvers<void>()
        const stopped = Promise.withResolvers<void>()
        const planning: Policy.Policy = {
          name: "planning",
          propose: () =>
            Effect.onInterrupt(
              Effect.andThen(
                Effect.sync(() => begun.resolve()),
                Effect.never
              ),
              () => Effect.sync(() => stopped.resolve())
            )
        }
        await serving({ ...team(...all), policy: planning, graceMillis: 0 }, async ({ url }) => {
          const leaving = new AbortController()
          const asked = ask(url, wire, { stream }, leaving.signal).then(
            (response) => response.text(),
            () => "left"
          )
          await begun.promise
          leaving.abort()
          await stopped.promise
          await asked
        })
        assert.strictEqual(calls(), 0)
      })
    }
  }
})
