/** Shared helpers for tests of Messages. */
import Anthropic from "@anthropic-ai/sdk"
import type { MessageParam, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages"
import { assert } from "vitest"
import type { Serving } from "./serving.ts"
import { said, team, worker } from "./teams.ts"

export const ask = (content: string) => ({
  model: "divisi",
  max_tokens: 500,
  messages: [{ role: "user", content } satisfies MessageParam]
})

export const thinking = { type: "adaptive" } as const

export const weather = {
  name: "weather",
  description: "The weather of a city",
  input_schema: { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] }
}

export const three = () => team(worker("a", said("one")), worker("b", said("two")), worker("c", said("th", "ree")))

export const notes =
  "Plan of 3 steps: 1. a, 2. b, 3. c answers\nStep 1 of 3: a has answered\nStep 2 of 3: b has answered\n"

export const thrown = async (promise: Promise<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> => {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error
  )
  assert.instanceOf(error, Anthropic.APIError)
  return error as InstanceType<typeof Anthropic.APIError>
}

/** A request as its events, each with the name that its line gives it. */
export const events = async ({ url }: Serving, body: object): Promise<ReadonlyArray<RawMessageStreamEvent>> => {
  const response = await fetch(`${url}/messages`, { method: "POST", body: JSON.stringify({ ...body, stream: true }) })
  assert.strictEqual(response.status, 200)
  assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
  const blocks = (await response.text()).split("\n\n").filter((block) => block !== "")
  return blocks.map((block) => {
    const [, name, data] = /^event: (\S+)\ndata: (.*)$/.exec(block) ?? []
    const event = JSON.parse(data ?? "null")
    assert.strictEqual(event.type, name, "the name of an event is its type")
    return event
  })
}

/** Events in short: what happens to which block. */
export const shortly = (all: ReadonlyArray<RawMessageStreamEvent>): ReadonlyArray<string> =>
  all.map((event) => {
    if (event.type === "content_block_start") return `start ${event.index} ${event.content_block.type}`
    if (event.type === "content_block_delta") return `${event.index} ${event.delta.type}`
    return event.type === "content_block_stop" ? `stop ${event.index}` : event.type
  })
