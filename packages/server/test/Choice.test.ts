import { Baselines } from "@divisi/core"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, said, worker } from "./teams.ts"

/** Each wire, and what a request on it says besides its model. */
const wires = {
  "chat/completions": { messages: [{ role: "user", content: "Who?" }] },
  responses: { input: "Who?" },
  messages: { max_tokens: 100, messages: [{ role: "user", content: "Who?" }] }
} as const

/** All the ways to say that `a` shall not work; each wire and model knows all of them. */
const ways = {
  "a header that leaves it out": { headers: { "x-divisi-exclude": "a" } },
  "a header that names the others": { headers: { "x-divisi-only": "b, c" } },
  "a field of the body that leaves it out": { body: { divisi: { exclude: ["a"] } } },
  "a field of the body that names the others": { body: { divisi: { only: ["b", "c"] } } },
  "metadata that leave it out": { body: { metadata: { divisi_exclude: "a" } } },
  "metadata that name the others": { body: { metadata: { divisi_only: "b,c" } } },
  "what stands behind the model": { suffix: ":-a" }
} satisfies Readonly<Record<string, Way>>

interface Way {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  readonly suffix?: string
}

const options = () => ({ ...alone(...["a", "b", "c"].map((id) => worker(id, said(id)))), aliases: { gpt: "divisi" } })

const asking =
  (url: string, path: keyof typeof wires) =>
  async (model: string, { body, headers = {}, suffix = "" }: Way) => {
    const sent = JSON.stringify({ model: `${model}${suffix}`, ...wires[path], ...body })
    const response = await fetch(`${url}/${path}`, { method: "POST", body: sent, headers })
    return { status: response.status, ...(await response.json()) }
  }

describe("who works is chosen by", () => {
  for (const [name, way] of Object.entries<Way>(ways)) {
    it(`${name}, on each wire and for each model`, () =>
      serving(options(), async ({ url }) => {
        for (const path of Object.keys(wires) as Array<keyof typeof wires>) {
          const ask = asking(url, path)
          for (const model of ["divisi", "divisi-fast", "gpt", "worker/b"]) {
            assert.deepInclude((await ask(model, way)).divisi, { workers: ["b"] }, `${path} ${model}`)
          }
          const { error, status } = await ask("worker/a", way)
          assert.strictEqual(status, 400, path)
          assert.match(error.message, /^No eligible worker: a is (excluded|not in "only")/, path)
        }
      }))
  }

  it("known fields alone: a misspelt one is refused with the nearest, on each wire and on a WebSocket", () =>
    serving(options(), async ({ url }) => {
      for (const [wrong, right] of [
        ["max_cost", "max_cost_usd"],
        ["onlyy", "only"],
        ["excludes", "exclude"]
      ]) {
        const body = { divisi: { [wrong!]: [] } }
        const message = `divisi.${wrong} is not a field of a request. Did you mean divisi.${right}?`
        for (const path of Object.keys(wires) as Array<keyof typeof wires>) {
          const { error, status } = await asking(url, path)("divisi", { body })
          assert.deepStrictEqual([status, error.message], [400, message], path)
        }
        const socket = new WebSocket(`${url.replace(/^http/, "ws")}/responses`)
        const answered = new Promise((resolve) => socket.addEventListener("message", resolve, { once: true }))
        await new Promise((resolve) => socket.addEventListener("open", resolve))
        socket.send(JSON.stringify({ type: "response.create", model: "divisi", ...wires.responses, ...body }))
        assert.include(((await answered) as MessageEvent).data, message)
        socket.close()
      }
      // Fields of the vendors' own wires stay unchecked.
      assert.strictEqual((await asking(url, "chat/completions")("divisi", { body: { max_cost: 0 } })).status, 200)
    }))

  it("its key's allowance, too: only workers allowed by both work, and if none remains, the error gives the reason", () => {
    const authenticate = () => Effect.succeed({ owner: "me", workers: ["b", "c"] })
    return serving({ ...options(), authenticate }, async ({ url }) => {
      for (const path of Object.keys(wires) as Array<keyof typeof wires>) {
        const ask = asking(url, path)
        assert.deepInclude((await ask("divisi", { suffix: ":-b" })).divisi, { workers: ["c"] }, path)
        const { error, status } = await ask("divisi", { suffix: ":-b", headers: { "x-divisi-only": "a,b" } })
        assert.strictEqual(status, 400, path)
        assert.include(error.message, 'b is excluded; c is not in "only"')
        assert.include(error.message, 'a is in "only", but does not exist')
      }
    })
  })

  it("the headers of a connection for many responses", () =>
    serving(options(), async ({ url }) => {
      // Node's own takes headers, which browsers' do not.
      const headers = { "x-divisi-exclude": "a" }
      const socket = new WebSocket(`${url.replace(/^http/, "ws")}/responses`, { headers } as never)
      await new Promise((resolve) => socket.addEventListener("open", resolve))
      const completed = new Promise<string>((resolve) =>
        socket.addEventListener("message", ({ data }) => {
          if (String(data).includes('"type":"response.completed"')) resolve(String(data))
        })
      )
      socket.send(JSON.stringify({ type: "response.create", model: "divisi", input: "Who?" }))
      assert.deepInclude(JSON.parse(await completed).response.divisi, { workers: ["b"] })
    }))
})

describe("who plans is chosen by", () => {
  const second: Readonly<Record<string, Way>> = {
    "a header": { headers: { "x-divisi-policy": "second" } },
    "a field of the body": { body: { divisi: { policy: "second" } } },
    metadata: { body: { metadata: { divisi_policy: "second" } } }
  }
  const served = () => ({ ...options(), policies: { second: Baselines.single("b") } })

  for (const [name, way] of Object.entries(second)) {
    it(`${name}, on each wire, for divisi alone`, () =>
      serving(served(), async ({ url }) => {
        for (const path of Object.keys(wires) as Array<keyof typeof wires>) {
          const ask = asking(url, path)
          for (const model of ["divisi", "gpt"]) {
            assert.deepInclude((await ask(model, way)).divisi, { workers: ["b"] }, `${path} ${model}`)
          }
          const { error, status } = await ask("worker/a", way)
          assert.deepStrictEqual(
            [status, error.message],
            [
              400,
              "Model worker/a is a fixed worker, so a policy cannot be chosen. Use the model divisi to choose a policy."
            ],
            path
          )
        }
      }))
  }

  it("no name that is not offered", () =>
    serving(served(), async ({ url }) => {
      const { error, status } = await asking(url, "responses")("divisi", { headers: { "x-divisi-policy": "toString" } })
      assert.deepStrictEqual(
        [status, error.message],
        [400, 'Policy "toString" is not available: available policies are second.']
      )
    }))
})

describe("the seed of a run is chosen by", () => {
  const seven: Readonly<Record<string, Way>> = {
    "a header": { headers: { "x-divisi-seed": "7" }, body: { seed: 5 } },
    "a field of the body": { body: { divisi: { seed: 7 }, seed: 5 } }
  }

  for (const [name, way] of Object.entries(seven)) {
    it(`${name}, on each wire`, () =>
      serving(options(), async ({ url }) => {
        for (const path of Object.keys(wires) as Array<keyof typeof wires>) {
          const { divisi } = await asking(url, path)("divisi", way)
          const { transcript } = await (await fetch(`${url}/runs/${divisi.run}`)).json()
          assert.strictEqual(transcript.seed, 7, path)
        }
      }))
  }

  it("a value that is not a whole number", () =>
    serving(options(), async ({ url }) => {
      for (const seed of ["", "1.5", "-1", "many"]) {
        const { status } = await asking(url, "responses")("divisi", { headers: { "x-divisi-seed": seed } })
        assert.strictEqual(status, 400, seed)
      }
    }))
})
