/** Code shared by the local server's routes: requests, responses, and futures that are delivered once. */
import type * as http from "node:http"
import type { EngineError } from "@divisi/trainer/Engine"
import type * as Effect from "effect/Effect"
import * as State from "./state.ts"

/** A request. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly headers: http.IncomingHttpHeaders
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** A response. */
export interface Answer {
  readonly status: number
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type Fields = Readonly<Record<string, never>>
// A test server trusts its client.
// biome-ignore lint/suspicious/noExplicitAny: bodies are not checked here
export type Body = any

export type Route = (state: State.State, body: Body, request: Request) => Promise<Answer>

export const json = (value: unknown, status = 200): Answer => ({ status, body: JSON.stringify(value) })

export const refuse = (status: number, detail: string): Answer => json({ detail }, status)

export const isSkyrl = ({ dialect }: State.State) => dialect.name !== "hosted"

export const future = (requestId: string): Answer => json({ request_id: requestId })

export const done = (value: unknown, kind: "json" | "batch" | "samples" = "json"): State.Outcome => ({
  type: "done",
  kind,
  value
})

export const withModel =
  (route: (state: State.State, model: State.Model, body: Body, request: Request) => Promise<Answer>): Route =>
  async (state, body, request) => {
    const model = state.models.get(body.model_id)
    return model === undefined ? refuse(404, "Model not found") : route(state, model, body, request)
  }

/** Executes a numbered request only once. A repeated request with the same number receives the same future. */
export const once = (
  state: State.State,
  model: State.Model,
  body: { readonly seq_id?: number | undefined },
  call: string,
  work: Effect.Effect<State.Outcome, EngineError>
): Answer => {
  const { seq_id: number } = body
  const fingerprint = JSON.stringify([call, body])
  const known = number === undefined ? undefined : model.numbered.get(number)
  if (known !== undefined) {
    if (known.fingerprint !== fingerprint) return refuse(409, "Training request sequence number was reused")
    return future(known.requestId)
  }
  model.requests += 1
  const requestId = State.inTurn(state, model, work, call)
  if (number !== undefined) model.numbered.set(number, { fingerprint, requestId })
  return future(requestId)
}
