/** Returns the result of a request, in JSON or in the protobuf form, as soon as it is available. */

import type * as Passes from "./passes.ts"
import * as Protobuf from "./protobuf.ts"
import { type Answer, isSkyrl, json, type Route, refuse } from "./route.ts"
import type * as State from "./state.ts"

const tensor = (data: ReadonlyArray<number>) => ({ data, dtype: "float32", shape: [data.length] })

const batchJson = ({ hasElementwiseLoss, logProbs }: Passes.Passed) => ({
  loss_fn_output_type: "scalar",
  metrics: {},
  loss_fn_outputs: logProbs.map((values) => ({
    logprobs: tensor(values),
    elementwise_loss: hasElementwiseLoss ? tensor(values.map((value) => -value)) : undefined
  }))
})

const protobuf = (body: Uint8Array): Answer => ({
  status: 200,
  body,
  headers: { "content-type": Protobuf.contentType }
})

const finished = ({ kind, value }: Extract<State.Outcome, { type: "done" }>, isProtobuf: boolean): Answer => {
  if (kind === "json") return json(value)
  if (kind === "batch") {
    const passed = value as Passes.Passed
    return isProtobuf ? protobuf(Protobuf.writeBatch(passed.logProbs)) : json(batchJson(passed))
  }
  const sequences = value as ReadonlyArray<{
    tokens: ReadonlyArray<number>
    logprobs: ReadonlyArray<number>
    stop_reason: string
  }>
  if (isProtobuf) {
    const plain = sequences.map(({ logprobs, stop_reason, tokens }) => ({
      tokens,
      logProbs: logprobs,
      reason: stop_reason === "length" ? ("length" as const) : ("stop" as const)
    }))
    return protobuf(Protobuf.writeSamples(plain))
  }
  return json({ sequences, prompt_logprobs: null })
}

const waited = (millis: number, signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), millis)
    signal.addEventListener("abort", () => {
      clearTimeout(timer)
      resolve(undefined)
    })
  })

export const retrieve: Route = async (state, { request_id }, { headers, signal }) => {
  const outcome = state.futures.get(request_id)
  if (outcome === undefined) return refuse(404, "Future not found")
  const ended = new AbortController()
  signal.addEventListener("abort", () => ended.abort())
  const found = await Promise.race([outcome, waited(state.options.pollMillis ?? 20_000, ended.signal)])
  ended.abort()
  if (found === undefined) {
    return isSkyrl(state)
      ? refuse(408, "Timeout waiting for result")
      : json({ type: "try_again", request_id, queue_state: "active" })
  }
  if (found.type === "done") return finished(found, headers.accept?.includes("protobuf") === true)
  return isSkyrl(state)
    ? refuse(400, found.detail)
    : json({ error: found.detail, category: found.isUsers ? "user" : "server" })
}
