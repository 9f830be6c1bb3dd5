/**
 * Workers that call tools, and the tools. Their output depends only on their input, so a restarted run is identical.
 * They keep their own records.
 */

import { type RunEvent, Seed, Tool } from "@divisi/core"
import { type Message, text } from "@divisi/core/Message"
import { type Worker, WorkerError, type WorkerErrorReason, type WorkerPart } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { addressOf, type Witness } from "./Witness.ts"

/** The state that the workers and tools of one simulation share. */
export interface ToolWorld {
  readonly seed: number
  readonly witness: Witness
  /** The share of requests that fail. */
  readonly fail: number
  /** Whether the vendor is down at the time of a request. */
  readonly isDown: () => boolean
  /** The draw for durations, which differs between processes. */
  readonly order: () => Seed.Draw
  /** Called when a vendor gets a request, and when a handler starts. */
  readonly onAsked: () => void
  readonly onTool: (name: string, call: string) => void
}

/** The draw that belongs to some texts. */
const drawOf = ({ seed }: Pick<ToolWorld, "seed">, ...of: ReadonlyArray<string | number>) =>
  Seed.draw(Seed.spread(seed, ...of))

const wait = ({ order }: ToolWorld): Effect.Effect<void> =>
  Effect.suspend(() => (Seed.chance(order(), 0.5) ? Effect.void : Effect.sleep(Seed.below(order(), 30))))

// -------------------------------------------------------------------------------------------------------------------
// Tools
// -------------------------------------------------------------------------------------------------------------------

const input = {
  type: "object",
  properties: { at: { type: "string" }, what: { type: "integer" } },
  required: ["at", "what"]
} as const

/** The tool that may be called twice. */
export const repeatable = "read"

/** The names of the tools; the last one does not exist. */
const names = [repeatable, "write", "person", "risky", "nothing"]

/** The tools of a run: one that only reads, one that changes something, one of a person's, one that has to be allowed. */
export const tools = (world: ToolWorld): ReadonlyArray<Tool.Tool> => {
  const execute = (
    { at, what }: { readonly at: string; readonly what: number },
    { call, round, step }: Tool.ToolContext
  ) =>
    Effect.suspend(() => {
      world.onTool(call.name, `${round}.${step} ${call.id}`)
      const draw = drawOf(world, "tool", call.name, at, what)
      const given = Seed.chance(draw, 0.2)
        ? Effect.fail(new Error("out of order"))
        : Effect.succeed(`${at} ${what * 2}`)
      return Effect.andThen(wait(world), given)
    })
  return [
    Tool.make({ name: repeatable, input, isRepeatable: true, execute }),
    Tool.make({ name: "write", input, execute }),
    Tool.make({ name: "person", input }),
    Tool.make({ name: "risky", input, needsApproval: true, execute })
  ]
}

/** The input for a call that waits. It is always the same for the same call. */
export const given = (world: Pick<ToolWorld, "seed">, id: string, what: "result" | "approval" | "plan"): Tool.Given => {
  const draw = drawOf(world, "given", id)
  if (what === "approval") return { approved: Seed.chance(draw, 0.7), reason: "so it is" }
  return Seed.chance(draw, 0.2) ? { content: "nobody knows", isError: true } : `a person's ${Seed.below(draw, 100)}`
}

// -------------------------------------------------------------------------------------------------------------------
// Workers
// -------------------------------------------------------------------------------------------------------------------

const reasons: ReadonlyArray<WorkerErrorReason> = [
  { _tag: "Overloaded", detail: "busy" },
  { _tag: "Network", detail: "cut" },
  { _tag: "InvalidRequest", detail: "no" },
  { _tag: "ContentFiltered", detail: "no" }
]

/** Why requests fail while the vendor is down. */
const outage = { _tag: "Overloaded", detail: "outage" } satisfies WorkerErrorReason

/** Whether a call failed because of the outage, which lasts until the process ends. */
export const isOutage = (event: RunEvent.RunEvent): boolean =>
  event.type === "call-failed" && event.reason.detail === outage.detail

/** The conversation up to what the step asks: without the turns of its tools. */
const askedIn = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> =>
  messages.slice(0, messages.findLastIndex(({ role }) => role === "user") + 1)

/** A worker must not see the result of another step's tool. */
const foreignResult = (messages: ReadonlyArray<Message>, address: string | undefined): string | undefined =>
  messages
    .filter(({ role }) => role === "tool")
    .map((message) => text(message))
    .find((result) => result.startsWith("<") && address !== undefined && !result.startsWith(address))

const callsOf = (draw: Seed.Draw, address: string, turn: number): ReadonlyArray<WorkerPart> =>
  Array.from({ length: 1 + Seed.below(draw, 3) }, (_, index) => {
    const name = names[Math.min(Seed.below(draw, 20) >> 2, Seed.chance(draw, 0.8) ? 3 : 4)]!
    const wrong = Seed.chance(draw, 0.1) ? "{}" : JSON.stringify({ at: address, what: Seed.below(draw, 50) })
    return { type: "tool-call", id: `${address}${turn}-${index}`, name, arguments: wrong }
  })

const usage = (draw: Seed.Draw) => ({ inputTokens: 5 + Seed.below(draw, 20), outputTokens: 1 + Seed.below(draw, 16) })

/** Draws a worker. */
export const worker = (world: ToolWorld, id: string): Worker => {
  const { witness } = world
  return {
    id,
    capabilities: { tools: true },
    pricing: { inputPerMillion: 2, outputPerMillion: 10, perCall: 0.001 },
    limits: { maxOutputTokens: 64 },
    countInputTokens: ({ messages }) => 30 + messages.length,
    generate: ({ messages, tools = [], toolChoice }) => {
      const asked = askedIn(messages)
      const address = addressOf({ messages: asked })
      const turn = messages.length - asked.length
      const draw = drawOf(world, id, JSON.stringify(messages), toolChoice === "none" ? 1 : 0)
      let isDown = false
      const parts = (): Effect.Effect<ReadonlyArray<WorkerPart>, WorkerError> => {
        if (isDown) return Effect.fail(new WorkerError({ worker: id, reason: outage }))
        if (Seed.chance(draw, world.fail)) {
          return Effect.fail(new WorkerError({ worker: id, reason: Seed.pick(draw, reasons) }))
        }
        const isCalling = tools.length > 0 && toolChoice !== "none" && Seed.chance(draw, turn === 0 ? 0.6 : 0.3)
        if (isCalling) {
          const calls = callsOf(draw, address ?? "<?>", turn)
          return Effect.succeed([...calls, { type: "finish", reason: "tool-calls", usage: usage(draw) }])
        }
        const answer = `⟦${id}#${Seed.below(draw, 1 << 30)}⟧ answer: ${Seed.below(draw, 3)}`
        witness.answer(id, answer)
        return Effect.succeed([
          { type: "text", text: answer },
          { type: "finish", reason: "stop", usage: usage(draw) }
        ])
      }
      const begin = Effect.suspend(() => {
        witness.called()
        isDown = world.isDown()
        world.onAsked()
        witness.ask(id, { messages: asked as never })
        const foreign = foreignResult(messages, address)
        if (foreign !== undefined) witness.complain(`${id} was asked ${address} and saw the result ${foreign}`)
        return Effect.andThen(wait(world), parts())
      })
      return Stream.unwrap(Effect.map(begin, (said) => Stream.fromArray(said)))
    }
  }
}
