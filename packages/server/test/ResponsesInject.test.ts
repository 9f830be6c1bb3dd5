/** Results of tools that come on the connection while their response is open. */
import { ResponsesWS } from "openai/resources/beta/responses/ws"
import { assert, describe, it } from "vitest"
import { serving } from "./serving.ts"
import { alone, asks, said, team, worker } from "./teams.ts"

type Item = Readonly<Record<string, unknown>> & { readonly call_id?: string }

type Event = Readonly<Record<string, unknown>> & {
  readonly type: string
  readonly item?: Item
  readonly response?: {
    readonly id: string
    readonly output: ReadonlyArray<Item>
    readonly usage: { readonly output_tokens: number; readonly output_tokens_details: Readonly<Record<string, number>> }
    readonly divisi: { readonly calls: number }
  }
}

/** A connection of a client that takes part in the beta. */
const connect = async (url: string) => {
  const headers = { "openai-beta": "responses_multi_agent=v1" }
  // Node's own takes headers, which browsers' do not.
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/responses`, { headers } as never)
  const events: Array<Event> = []
  let read = 0
  let wake = () => {}
  socket.addEventListener("message", ({ data }) => {
    events.push(JSON.parse(String(data)))
    wake()
  })
  await new Promise((resolve) => socket.addEventListener("open", resolve))
  return {
    socket,
    send: (frame: object) => socket.send(JSON.stringify(frame)),
    /** The next event of a type; those before it are passed over. */
    next: async (type: string): Promise<Event> => {
      for (;;) {
        const event = events[read]
        if (event === undefined) await new Promise<void>((resolve) => (wake = resolve))
        else {
          read += 1
          if (event.type === type) return event
        }
      }
    }
  }
}

const weather = { type: "function", name: "weather", parameters: { type: "object", properties: {} } }

const create = { type: "response.create", model: "divisi", input: "How is it in Oslo?", tools: [weather] }

const outputFor = (call: Item | undefined, output: string) => ({
  type: "function_call_output",
  call_id: call?.call_id,
  output
})

const inject = (responseId: string, ...input: ReadonlyArray<object>) => ({
  type: "response.inject",
  response_id: responseId,
  input
})

const typesOf = (items: ReadonlyArray<Item> = []) => items.map(({ type }) => type)

describe("results that come while a response is open", () => {
  it("may be those of a tool whose calls are items of their own type", () =>
    serving(alone(worker("a", asks(["shell", { action: { commands: ["ls"] } }]), said("a.txt"))), async ({ url }) => {
      const client = await connect(url)
      client.send({ ...create, tools: [{ type: "shell" }] })
      const { response } = await client.next("response.created")
      const { item } = await client.next("response.output_item.done")
      assert.strictEqual(item?.type, "shell_call")
      const output = [{ stdout: "a.txt", stderr: "", outcome: { type: "exit", exit_code: 0 } }]
      client.send(inject(response!.id, { type: "shell_call_output", call_id: item?.call_id, output }))
      const last = await client.next("response.completed")
      assert.deepStrictEqual(typesOf(last.response?.output), ["shell_call", "shell_call_output", "message"])
      client.socket.close()
    }))

  it("continue its run, as one response", () => {
    const [a, b] = [worker("a", said("one")), worker("b", said("two"))]
    const c = worker(
      "c",
      asks(["weather", { city: "Oslo" }]),
      asks(["weather", { city: "Oslo, tomorrow" }]),
      said("rain")
    )
    return serving(team(a, b, c), async ({ client, url }) => {
      const { next, send } = await connect(url)
      send(create)
      const { response } = await next("response.created")
      const id = response!.id
      for (const text of ["dry", "wet"]) {
        await next("response.function_call_arguments.done")
        send(inject(id, outputFor((await next("response.output_item.done")).item, text)))
        assert.strictEqual((await next("response.inject.created")).response_id, id)
        assert.deepInclude((await next("response.output_item.added")).item, {
          type: "function_call_output",
          output: text
        })
      }
      const completed = (await next("response.completed")).response!
      assert.deepStrictEqual(typesOf(completed.output), [
        "reasoning",
        ...["function_call", "function_call_output", "function_call", "function_call_output", "message"]
      ])
      assert.strictEqual(completed.id, id)
      // The usage of the last turn's worker is the answer's; the rest is orchestration.
      assert.deepInclude(completed.divisi, { calls: 5 })
      assert.strictEqual(
        completed.usage.output_tokens + completed.usage.output_tokens_details.orchestration_output_tokens!,
        15
      )
      // No worker was called twice.
      assert.deepStrictEqual([a.calls.length, b.calls.length, c.calls.length], [1, 1, 3])
      const kept = await client.responses.retrieve(id)
      assert.deepStrictEqual(typesOf(kept.output as unknown as ReadonlyArray<Item>), typesOf(completed.output))
    })
  })

  it("can arrive one by one, and can be continued from like any other response", () => {
    const a = worker("a", asks(["weather", { city: "Oslo" }], ["weather", { city: "Rome" }]), said("rain"), said("yes"))
    return serving(alone(a), async ({ client, url }) => {
      const { next, send } = await connect(url)
      send(create)
      const id = (await next("response.created")).response!.id
      const calls = [await next("response.output_item.done"), await next("response.output_item.done")]
      for (const { item } of calls) {
        send(inject(id, outputFor(item, "wet")))
        await next("response.inject.created")
      }
      await next("response.completed")
      const { output_text } = await client.responses.create({
        model: "divisi",
        input: "Really?",
        previous_response_id: id
      })
      assert.strictEqual(output_text, "yes")
      assert.strictEqual(a.calls.length, 3)
    })
  })

  it("are given back where nothing waits for them", () =>
    serving(alone(worker("a", asks(["weather", {}]), said("rain"))), async ({ url }) => {
      const { next, send } = await connect(url)
      const stranger = outputFor({ call_id: "call_1" }, "wet")
      send(inject("resp_none", stranger))
      const none = await next("response.inject.failed")
      assert.deepInclude(none.error as object, { code: "response_not_found" })
      assert.deepStrictEqual(none.input, [stranger])
      send(create)
      const id = (await next("response.created")).response!.id
      const { item } = await next("response.output_item.done")
      send(inject(id, stranger))
      assert.deepInclude(await next("error"), { status: 400 })
      send(inject(id, outputFor(item, "wet")))
      await next("response.completed")
      send(inject(id, outputFor(item, "wet")))
      const late = await next("response.inject.failed")
      assert.deepInclude(late.error as object, { code: "response_already_completed" })
    }))

  it("are not waited for where the client asks for something else, or goes away", () => {
    const a = worker("a", asks(["weather", {}]), said("rain"), asks(["weather", {}]), said("sun"))
    return serving(alone(a), async ({ client, running, url }) => {
      const { next, send, socket } = await connect(url)
      send(create)
      const { item } = await next("response.output_item.done")
      send({ ...create, input: [{ role: "user", content: create.input }, item!, outputFor(item, "wet")] })
      assert.deepStrictEqual(typesOf((await next("response.completed")).response!.output), ["function_call"])
      assert.deepStrictEqual(typesOf((await next("response.completed")).response!.output), ["message"])
      send({ ...create, input: "And in Rome?" })
      const id = (await next("response.created")).response!.id
      const asked = await next("response.output_item.done")
      socket.close()
      while (running() > 0) await new Promise((resolve) => setTimeout(resolve, 5))
      const { output_text } = await client.responses.create({
        model: "divisi",
        tools: [{ ...weather, type: "function", strict: null }],
        previous_response_id: id,
        input: [outputFor(asked.item, "dry") as never]
      })
      assert.strictEqual(output_text, "sun")
    })
  })

  it("are brought by OpenAI's own client", () => {
    const a = worker("a", asks(["weather", { city: "Oslo" }]), said("rain"))
    return serving(alone(a), async ({ client }) => {
      const socket = new ResponsesWS(client, { headers: { "openai-beta": "responses_multi_agent=v1" } })
      const { promise: text, resolve, reject } = Promise.withResolvers<string>()
      let id = ""
      socket.on("error", reject)
      socket.on("response.created", ({ response }) => {
        id = response.id
      })
      socket.on("response.output_item.done", ({ item }) => {
        if (item.type !== "function_call") return
        const output = { type: "function_call_output" as const, call_id: item?.call_id, output: "wet" }
        socket.send({ type: "response.inject", response_id: id, input: [output] })
      })
      socket.on("response.output_text.done", (event) => resolve(event.text))
      socket.send({
        type: "response.create",
        model: "divisi",
        input: "How is it?",
        tools: [{ ...weather, type: "function", strict: null }]
      })
      assert.strictEqual(await text, "rain")
      socket.close()
    })
  })
})
