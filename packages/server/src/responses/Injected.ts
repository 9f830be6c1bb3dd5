/**
 * Responses that stay open across tool calls: the client sends tool results over the same connection, and the run
 * continues within the same response. Implements `response.inject` from OpenAI's multi-agent beta.
 */
import type { ToolCall } from "@divisi/core/Message"
import * as Usage from "@divisi/core/Usage"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Joining } from "../http/Endpoint.ts"
import { type ApiError, invalid } from "../wire/ApiError.ts"
import * as Json from "../wire/Json.ts"
import { type Part, type SegmentUsage, toolCallsOf, totalOf } from "../wire/Wire.ts"
import { itemsOf } from "./ResponseStore.ts"
import { whole } from "./ResponsesWriter.ts"

// -------------------------------------------------------------------------------------------------------------------
// Delivery of results
// -------------------------------------------------------------------------------------------------------------------

type Items = ReadonlyArray<Json.JsonObject>

/** An open response that waits for tool results. */
interface Open {
  readonly responseId: string
  readonly awaited: Set<unknown>
  readonly items: Array<Json.JsonObject>
  readonly done: Deferred.Deferred<Items | undefined>
}

/** Delivers tool results that arrive on one connection to the open response. */
export interface Desk {
  /** Waits for the results of calls. Returns `undefined` if the response should end with the calls instead. */
  readonly results: (responseId: string, calls: ReadonlyArray<ToolCall>) => Effect.Effect<Items | undefined>
  /**
   * Delivers tool results. Returns `false` if no such response is open. Throws an `ApiError` if a result does not match
   * a pending call.
   */
  readonly give: (responseId: string, items: ReadonlyArray<unknown>) => boolean
  /** Ends the open response with its pending calls, because the client has sent another request. */
  readonly end: () => void
}

const outputs = [
  "function_call_output",
  "custom_tool_call_output",
  "shell_call_output",
  "local_shell_call_output",
  "apply_patch_call_output"
]

const checked = ({ awaited }: Open, value: unknown, field: string): Json.JsonObject => {
  const item = Json.object(value, field)
  if (!outputs.includes(String(item.type))) throw invalid(field, `${field}.type must be one of ${outputs.join(", ")}.`)
  if (!awaited.has(item.call_id)) throw invalid(field, `The response has no pending call ${String(item.call_id)}.`)
  return item
}

/** Creates a desk for one connection. `isOther` returns whether the client has since sent another request. */
export const desk = (isOther: () => boolean): Desk => {
  let open: Open | undefined
  const close = (items: Items | undefined) => {
    if (open !== undefined) Deferred.doneUnsafe(open.done, Exit.succeed(items))
    open = undefined
  }
  return {
    results: (responseId, calls) =>
      Effect.suspend(() => {
        if (isOther()) return Effect.undefined
        const done = Deferred.makeUnsafe<Items | undefined>()
        open = { responseId, awaited: new Set(calls.map(({ id }) => id)), items: [], done }
        return Deferred.await(done)
      }),
    give: (responseId, values) => {
      if (open?.responseId !== responseId) return false
      const waiting = open
      // Validates all results before accepting any.
      const items = values.map((value, at) => checked(waiting, value, `input[${at}]`))
      for (const item of items) waiting.awaited.delete(item.call_id)
      waiting.items.push(...items)
      if (waiting.awaited.size === 0) close(waiting.items)
      return true
    },
    end: () => close(undefined)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Continued segments
// -------------------------------------------------------------------------------------------------------------------

type Finish = Extract<Part, { readonly type: "finish" }>

/** Combines the usage of two consecutive segments. The answer's usage is taken from the second one. */
const bothUsed = (first: SegmentUsage, second: SegmentUsage): SegmentUsage => ({
  answer: second.answer,
  orchestration: Usage.addUsage(totalOf(first), second.orchestration),
  costUsd: Usage.rounded(first.costUsd + second.costUsd),
  unpricedCalls: first.unpricedCalls + second.unpricedCalls,
  calls: first.calls + second.calls
})

const joined = (first: Finish | undefined, second: Finish): Finish =>
  first === undefined
    ? second
    : {
        ...second,
        usage: bothUsed(first.usage, second.usage),
        workers: [...new Set([...first.workers, ...second.workers])],
        durationMillis: first.durationMillis + second.durationMillis
      }

/** Creates an error part that includes the usage of earlier segments. */
const failing = (error: ApiError, before: Finish | undefined, usage?: SegmentUsage | undefined): Part => ({
  type: "error",
  error,
  usage: before === undefined || usage === undefined ? (usage ?? before?.usage) : bothUsed(before.usage, usage)
})

/** Runs a response's segments as one. Each later segment starts with the results that the previous one requested. */
export const join =
  ({ results }: Desk) =>
  ({ about, again, body, turn }: Joining) =>
  (tell: (parts: ReadonlyArray<Part>) => void): Effect.Effect<ReadonlyArray<Part>> =>
    Effect.gen(function* () {
      const said: Array<Part> = []
      const hear = (parts: ReadonlyArray<Part>) => {
        said.push(...parts)
        tell(parts)
      }
      let { run } = turn
      let before: Finish | undefined
      for (;;) {
        const last = yield* run(hear)
        const end = last.at(-1)
        if (end?.type === "error") return [...last.slice(0, -1), failing(end.error, before, end.usage)]
        if (end?.type !== "finish") return last
        const finish = joined(before, end)
        if (finish.reason !== "tool-calls") return [...last.slice(0, -1), finish]
        hear(last.slice(0, -1))
        const items = yield* results(`resp_${about.id}`, toolCallsOf(last))
        if (items === undefined) return [finish]
        hear(items.map((item): Part => ({ type: "given", item })))
        const output = whole(about, said).output as Items
        const next = yield* Effect.result(again({ ...body, input: [...itemsOf(body.input), ...output] }))
        if (next._tag === "Failure") return [failing(next.failure, finish)]
        run = next.success.run
        before = finish
      }
    })
