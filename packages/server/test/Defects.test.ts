/** A defect in any part of the server is logged once, with its cause and its request, and counted. */
import { Journal, Resilience } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import { assert, describe, expect, it } from "vitest"
import * as NodeServer from "../src/NodeServer.ts"
import { alone, said, worker } from "./teams.ts"

const planted = (): never => {
  throw new Error("planted")
}

const die = Effect.sync(planted)

const journal = Journal.makeMemory(Journal.memory())

const one = alone(worker("a", said("here")))

const chat = { path: "chat/completions", body: { model: "divisi", messages: [{ role: "user", content: "Greet" }] } }
const messages = { path: "messages", body: { ...chat.body, max_tokens: 9 } }
const response = { path: "responses", body: { model: "divisi", input: "Greet" } }

const tool = { type: "function", function: { name: "f", parameters: { type: "object" } } }

interface Planted {
  readonly options: NodeServer.Options
  /** The providers that are closed; none by default. */
  readonly closed?: Resilience.Gate["closed"]
  readonly ask?: { readonly path: string; readonly body?: object }
  /** The status of the response; that of what only the log notices is 200. */
  readonly status: number
}

const parts: Readonly<Record<string, Planted>> = {
  "the key check": { options: { ...one, authenticate: () => die }, status: 500 },
  "the key check of a list": { options: { ...one, authenticate: () => die }, ask: { path: "models" }, status: 500 },
  "an account": {
    options: {
      ...one,
      authenticate: () => Effect.succeed({ owner: "me", ledger: { limits: {}, spent: planted } as never })
    },
    status: 500
  },
  "a worker": { options: alone({ ...worker("a", said("x")), generate: () => die }), status: 500 },
  "a policy": { options: { ...one, policy: { name: "p", propose: () => die } }, status: 500 },
  "the journal, as a run is written": {
    options: { ...one, journal: { ...journal, append: () => die } },
    ask: { ...chat, body: { ...chat.body, tools: [tool] } },
    status: 500
  },
  "the journal, as runs are listed": {
    options: {
      ...one,
      journal: { ...journal, list: (query) => (query?.caller === undefined ? Effect.succeed([]) : die) }
    },
    ask: { path: "runs" },
    status: 500
  },
  "the store, as a response is written": {
    options: { ...one, responses: { get: () => Effect.succeed(undefined), set: () => die, remove: () => Effect.void } },
    ask: response,
    status: 200
  },
  "the store, as a response is read": {
    options: { ...one, responses: { get: () => die, set: () => Effect.void, remove: () => Effect.void } },
    ask: { path: "responses/resp_0000000000000000000000" },
    status: 500
  },
  "the log": { options: { ...one, log: planted }, status: 200 },
  "the text of the metrics": {
    options: one,
    // The first text fails; the second one counts the defect.
    closed: Effect.sync(
      (
        (texts) => () =>
          texts++ === 0 ? [Object.defineProperty({}, "provider", { get: planted }) as never] : []
      )(0)
    ),
    ask: { path: "/metrics" },
    status: 500
  },
  readiness: { options: { ...one, isReady: die }, ask: { path: "../health/ready" }, status: 500 }
}

/** Serves with what is logged as lines. */
const logging = async <A>(
  options: NodeServer.Options,
  test: (server: NodeServer.NodeServer, lines: ReadonlyArray<string>) => Promise<A>,
  closed?: Resilience.Gate["closed"]
) => {
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => void lines.push([message].flat().join(" ")))])
  const scope = Effect.runSync(Scope.make())
  try {
    const made = Effect.provide(Scope.provide(NodeServer.make({ port: 0, ...options }), scope), logger)
    const gated =
      closed === undefined ? made : Effect.provideService(made, Resilience.Gate, { closed } as Resilience.Gate)
    return await test(await Effect.runPromise(gated), lines)
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const request = (url: string, { body, path }: { readonly path: string; readonly body?: object }, authorization = "") =>
  fetch(new URL(path, `${url}/`), {
    method: body === undefined ? "GET" : "POST",
    body: body === undefined ? null : JSON.stringify(body),
    headers: { authorization }
  })

const counted = async (url: string) => {
  const text = await (await fetch(new URL("/metrics", url))).text()
  return [...text.matchAll(/^divisi_defects_total\{[^}]*\} (\d+)/gm)].reduce((sum, [, count]) => sum + Number(count), 0)
}

describe("a defect", () => {
  for (const [part, { ask = chat, closed, options, status }] of Object.entries(parts)) {
    it(`in ${part} is logged once, with its cause and its request`, () =>
      logging(
        options,
        async (server, lines) => {
          const answer = await request(server.url, ask)
          const text = await answer.text()
          assert.strictEqual(answer.status, status, text)
          const found = lines.filter((line) => line.includes("planted"))
          assert.strictEqual(found.length, 1, lines.join("\n"))
          expect(found[0]).toMatch(/^Defect in [a-z]+ \(.+\): /)
          expect(found[0]).toMatch(/planted[\s\S]*\n\s+at /)
          if (status === 500) {
            const id = answer.headers.get("x-request-id")
            expect(found[0]).toContain(`request ${id}`)
            expect(found[0]).toContain("status 500")
            // An error of a run says in its message what its policy, or its journal, has said.
            if (!found[0]!.includes(", run ")) assert.notInclude(text, "planted")
          }
          if (!part.startsWith("the key check")) assert.strictEqual(await counted(server.url), 1)
        },
        closed
      ))
  }

  it("names the wire, the key and the run on each wire, also where the response is a stream", () =>
    logging(
      {
        ...alone({ ...worker("a", said("x")), generate: () => die }),
        authenticate: ({ authorization }) => Effect.succeed({ owner: authorization ?? "" })
      },
      async ({ url }, lines) => {
        for (const { body, path } of [chat, messages, response]) {
          for (const stream of [false, true]) {
            const before = lines.length
            const answer = await request(url, { path, body: { ...body, stream } }, `k-${path}`)
            await answer.text()
            const [line = "", ...others] = lines.slice(before).filter((line) => line.startsWith("Defect"))
            assert.strictEqual(others.length, 0)
            expect(line).toMatch(new RegExp(`key k-${path}, status 500, run \\w{22}`))
            expect(line).toContain("planted")
          }
        }
      }
    ))
})
