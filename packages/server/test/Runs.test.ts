import { Journal } from "@divisi/core"
import type { Worker, WorkerPart } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, asks, said, team, usage, worker } from "./teams.ts"

const request = { model: "divisi", messages: [{ role: "user" as const, content: "Who?" }] }

const tools = [{ type: "function" as const, function: { name: "look" } }]

const json = async (url: string) => (await fetch(url)).json()

/** The events of a stream with their ids. */
const eventsIn = (text: string) =>
  text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [, id, data] = /^id: (\d+)\ndata: (.+)$/s.exec(event)!
      return { id: Number(id), type: JSON.parse(data!).type as string }
    })

describe("runs", () => {
  it("are listed, shown and streamed, from any event on", () =>
    serving(team(worker("a", said("one")), worker("b", said("two")), worker("c", said("three"))), async (server) => {
      const { response } = await server.client.chat.completions.create(request).withResponse()
      const id = response.headers.get("x-divisi-run")
      const listed = await json(`${server.url}/runs`)
      assert.lengthOf(listed.data, 1)
      assert.deepInclude(listed.data[0], { id, state: "answered", question: "Who?", calls: 3 })
      const { transcript } = await json(`${server.url}/runs/${id}`)
      assert.strictEqual(transcript.answer, "three")
      const all = eventsIn(await (await fetch(`${server.url}/runs/${id}/events`)).text())
      assert.strictEqual(all[0]?.type, "run-started")
      assert.strictEqual(all.at(-1)?.type, "run-finished")
      const headers = { "last-event-id": `${all[2]!.id}` }
      const rest = eventsIn(await (await fetch(`${server.url}/runs/${id}/events`, { headers })).text())
      assert.deepStrictEqual(rest, all.slice(3))
    }))

  it("of other keys are seen by a key with the right admin alone", () => {
    const options = {
      ...alone(worker("a", said("one"))),
      authenticate: ({ authorization = "" }) =>
        Effect.succeed({ owner: authorization, rights: authorization === "Bearer boss" ? ["admin"] : ["rate"] })
    }
    return serving(options, async ({ client, url }) => {
      const { response } = await client.chat.completions.create(request).withResponse()
      const id = response.headers.get("x-divisi-run")
      const get = async (path: string, name: string) => {
        const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${name}` } })
        return { status: answer.status, text: await answer.text() }
      }
      const paths = [`/runs/${id}`, `/runs/${id}/events`]
      for (const path of paths) {
        assert.strictEqual((await get(path, "other")).status, 404, path)
        assert.strictEqual((await get(path, "boss")).status, 200, path)
        assert.strictEqual((await get(path, "none")).status, 200, path)
      }
      assert.strictEqual((await get("/runs?owner=all", "other")).status, 403)
      assert.strictEqual((await get("/runs?owner=Bearer%20none", "other")).status, 403)
      const idsOf = async (path: string, name: string) =>
        JSON.parse((await get(path, name)).text).data.map(({ id, owner }: { id: string; owner: string }) => [id, owner])
      assert.deepStrictEqual(await idsOf("/runs", "boss"), [])
      assert.deepStrictEqual(await idsOf("/runs?owner=all", "boss"), [[id, "Bearer none"]])
      assert.deepStrictEqual(await idsOf("/runs?owner=Bearer%20none", "boss"), [[id, "Bearer none"]])
      assert.strictEqual((await get("/runs/nothing", "boss")).status, 404)
    })
  })

  it("are streamed while active, to their end", () => {
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>()
    const parts: ReadonlyArray<WorkerPart> = [
      { type: "text", text: "three" },
      { type: "finish", reason: "stop", usage }
    ]
    const waiting: Worker = {
      id: "c",
      generate: () =>
        Effect.as(
          Effect.promise(() => until),
          parts
        )
    }
    const options = team(worker("a", said("one")), worker("b", said("two")), waiting)
    return serving({ ...options, journal: Journal.makeMemory(), heartbeatMillis: 5 }, async ({ client, url }) => {
      const asking = client.chat.completions.create(request)
      const listed = async () => (await json(`${url}/runs`)).data
      let [run] = await listed()
      for (; run === undefined; [run] = await listed()) await new Promise((resolve) => setTimeout(resolve, 5))
      assert.strictEqual(run.state, "running")
      // Its head comes before the run has ended.
      const response = await fetch(`${url}/runs/${run.id}/events`)
      const decoder = new TextDecoder()
      let text = ""
      for await (const chunk of response.body!) {
        text += decoder.decode(chunk, { stream: true })
        // While nothing happens, the stream is not silent.
        if (text.split(": heartbeat\n\n").length > 3) goOn()
      }
      const events = eventsIn(text.replaceAll(": heartbeat\n\n", ""))
      assert.deepStrictEqual([events[0]?.type, events.at(-1)?.type], ["run-started", "run-finished"])
      await asking
    })
  })

  it("are streamed from beyond their end as an empty stream", () =>
    serving(
      { ...team(worker("a", said("one")), worker("b", said("two")), worker("c", said("three"))) },
      async (server) => {
        await server.client.chat.completions.create(request)
        const [{ id }] = (await json(`${server.url}/runs`)).data
        const all = await (await fetch(`${server.url}/runs/${id}/events`)).text()
        const last = Number(/id: (\d+)\n[^\n]*\n\n$/.exec(all)?.[1])
        for (const seen of [last, 999_999_999]) {
          const headers = { "last-event-id": `${seen}` }
          assert.strictEqual(await (await fetch(`${server.url}/runs/${id}/events`, { headers })).text(), "")
        }
      }
    ))

  it("are streamed to a client 100 times at once, and no more", () => {
    const options = team(worker("a", said("one")), worker("b", said("two")), { id: "c", generate: () => Effect.never })
    return serving({ ...options, journal: Journal.makeMemory() }, async ({ client, url }) => {
      const stop = new AbortController()
      client.chat.completions.create(request, stop).catch(() => {})
      let run: { readonly id: string } | undefined
      while (run === undefined) [run] = (await json(`${url}/runs`)).data
      const follow = () => fetch(`${url}/runs/${run!.id}/events`, { signal: stop.signal })
      const readers = Array.from({ length: 100 }, () => new AbortController())
      const { id } = run
      // The body of a response that nothing refers to is canceled when it is collected.
      const responses: Array<Response> = []
      for (const { signal } of readers) {
        const response = await fetch(`${url}/runs/${id}/events`, { signal })
        assert.strictEqual(response.status, 200)
        responses.push(response)
      }
      const refused = await follow()
      assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [429, "1"])
      await refused.text()
      readers[0]!.abort()
      for (let status = 429; status !== 200; ) {
        const next = await follow()
        status = next.status
        if (status !== 200) await next.text()
      }
      for (const reader of readers) reader.abort()
      stop.abort()
      assert.lengthOf(responses, readers.length)
    })
  })

  it("are listed by page, the latest first, skipping the runs of other owners", () =>
    serving(
      {
        ...alone(worker("a", said("one"))),
        authenticate: ({ authorization = "" }) => Effect.succeed({ owner: authorization })
      },
      async ({ url }) => {
        const as = async (name: string, path: string, body?: object) =>
          (
            await fetch(`${url}${path}`, {
              headers: { authorization: name },
              ...(body && { method: "POST", body: JSON.stringify(body) })
            })
          ).json()
        for (const name of ["me", "other", "me", "other", "me"]) await as(name, "/chat/completions", request)
        const first = await as("me", "/runs?limit=2")
        const second = await as("me", `/runs?limit=2&after=${first.last_id}`)
        assert.deepStrictEqual(
          [first, second].map(({ data, has_more }) => [data.length, has_more]),
          [
            [2, true],
            [1, false]
          ]
        )
        const all = (await as("me", "/runs")).data.map(({ id }: { readonly id: string }) => id)
        assert.deepStrictEqual(
          all,
          [...first.data, ...second.data].map(({ id }) => id)
        )
        const times = (await as("me", "/runs")).data.map((run: { readonly started_at: number }) => run.started_at)
        assert.deepStrictEqual(
          times,
          times.toSorted((left: number, right: number) => right - left)
        )
        assert.lengthOf((await as("other", "/runs")).data, 2)
      }
    ))

  it("of other owners are not found", () =>
    serving(
      {
        ...alone(worker("a", said("one"))),
        authenticate: ({ authorization = "" }) => Effect.succeed({ owner: authorization })
      },
      async (server) => {
        const { response } = await server.client.chat.completions.create(request).withResponse()
        const id = response.headers.get("x-divisi-run")
        const as = (authorization: string, path: string) =>
          fetch(`${server.url}/runs${path}`, { headers: { authorization } })
        assert.strictEqual((await as("Bearer none", `/${id}`)).status, 200)
        assert.strictEqual((await as("Bearer other", `/${id}`)).status, 404)
        assert.strictEqual((await as("Bearer other", `/${id}/events`)).status, 404)
        assert.lengthOf((await (await as("Bearer other", "")).json()).data, 0)
      }
    ))

  it("that are suspended resume in the next process, and no worker is called twice", async () => {
    const memory = Journal.memory()
    const [a, b] = [worker("a", said("one")), worker("b", said("two"))]
    const c = worker("c", asks(["look", {}]), said("seen"))
    const first = Journal.makeMemory(memory)
    const asked = await serving({ ...team(a, b, c), journal: first }, async ({ client }) =>
      client.chat.completions.create({ ...request, tools })
    )
    first.end()
    const { message } = asked.choices[0]!
    const answer = await serving({ ...team(a, b, c), journal: Journal.makeMemory(memory) }, async ({ client, url }) => {
      const waiting = await json(`${url}/runs`)
      assert.strictEqual(waiting.data[0].state, "waiting")
      const result = { role: "tool" as const, tool_call_id: message.tool_calls![0]!.id, content: "it" }
      return client.chat.completions.create({ ...request, tools, messages: [...request.messages, message, result] })
    })
    assert.strictEqual(answer.choices[0]?.message.content, "seen")
    assert.deepStrictEqual([a.calls.length, b.calls.length, c.calls.length], [1, 1, 2])
  })

  it("that was killed while streaming resumes on a retry, and no answered worker is called twice", async () => {
    const [a, b, c] = [worker("a", said("one")), worker("b", said("two")), worker("c", { hang: true }, said("back"))]
    const memory = Journal.memory()
    const first = Journal.makeMemory(memory)
    const asked = { ...request, stream: true } as const
    await serving({ ...team(a, b, c), journal: first }, async ({ client }) => {
      const asking = client.chat.completions.create(asked).catch(() => {})
      while (c.running() === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      first.end()
      void asking
    })
    const answer = await serving({ ...team(a, b, c), journal: Journal.makeMemory(memory) }, async ({ client }) => {
      let text = ""
      for await (const { choices } of await client.chat.completions.create(asked)) {
        text += choices[0]?.delta.content ?? ""
      }
      // A deliberate repetition gets its own answer.
      await client.chat.completions.create(asked).then(async (stream) => {
        for await (const _ of stream);
      })
      return text
    })
    assert.strictEqual(answer, "back")
    assert.deepStrictEqual([a.calls.length, b.calls.length, c.calls.length], [2, 2, 3])
  })
})

describe("metrics", () => {
  it("count requests, tokens and cost, and say nothing of what was asked", () =>
    serving(alone(worker("a", said("one"))), async ({ client, url }) => {
      await client.chat.completions.create({ ...request, messages: [{ role: "user", content: "a secret" }] })
      await client.chat.completions.create({ ...request, model: "secret-model" }).catch(() => {})
      await client.chat.completions.create({ ...request, model: "divisi:-secret" })
      const text = await (await fetch(url.replace("/v1", "/metrics"))).text()
      assert.match(text, /divisi_requests_total\{[^}]*model="divisi"[^}]*status="200"[^}]*\} 2/)
      assert.match(text, /divisi_requests_total\{[^}]*model="other"[^}]*status="404"[^}]*\} 1/)
      assert.match(text, /divisi_input_tokens_total\{[^}]*model="divisi"[^}]*\} 14/)
      assert.match(text, /divisi_cost_usd_total\{[^}]*model="divisi"[^}]*\} 0\.074/)
      assert.match(text, /divisi_runs_running(\{\})? 0/)
      assert.notInclude(text, "secret")
    }))
})
