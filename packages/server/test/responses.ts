/** Shared helpers for tests of Responses. */
import type * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import OpenAI from "openai"
import type { ResponseStreamEvent } from "openai/resources/responses/responses"
import { assert } from "vitest"
import { said, team, worker } from "./teams.ts"

export const ask = (input: string) => ({ model: "divisi", input })

export const weather = {
  type: "function" as const,
  name: "weather",
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: null
}

export const three = () => team(worker("a", said("one")), worker("b", said("two")), worker("c", said("th", "ree")))

export const notes = [
  "Plan of 3 steps: 1. a, 2. b, 3. c answers",
  "Step 1 of 3: a has answered",
  "Step 2 of 3: b has answered"
]

export const slow: ScriptedWorker.Reply = { ...(said("Do", "ne") as object), delayMillis: 40 } as ScriptedWorker.Reply

export const thrown = async (promise: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error
  )
  assert.instanceOf(error, OpenAI.APIError)
  return error as InstanceType<typeof OpenAI.APIError>
}

/** Returns the events of a stream, and whether its end was sent. Each has the name in its `event` line. */
export const eventsOf = async (response: Response) => {
  assert.strictEqual(response.status, 200)
  const blocks = (await response.text()).split("\n\n").filter((block) => block !== "")
  const events = blocks
    .filter((block) => block !== "data: [DONE]")
    .map((block): ResponseStreamEvent => {
      const [, name, data] = /^event: (\S+)\ndata: (.*)$/.exec(block) ?? []
      const event = JSON.parse(data ?? "null")
      assert.strictEqual(event.type, name, "the name of an event is its type")
      return event
    })
  return { events, isEnded: blocks.at(-1) === "data: [DONE]" }
}

export const streamed = async (url: string, body: object) =>
  eventsOf(await fetch(`${url}/responses`, { method: "POST", body: JSON.stringify({ ...body, stream: true }) }))

export const types = (events: ReadonlyArray<ResponseStreamEvent>) =>
  events.map(({ type }) => type.replace(/^response\./, ""))

export const until = async (isSo: () => boolean | Promise<boolean>) => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
}
