/** `POST /v1/messages/count_tokens`: counts the input tokens of a request without running it. */
import * as Usage from "@divisi/core/Usage"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Endpoint from "../http/Endpoint.ts"
import * as Respond from "../http/Respond.ts"
import type * as Models from "../Models.ts"
import type { ApiError } from "../wire/ApiError.ts"
import * as Canonical from "../wire/Canonical.ts"
import * as Steps from "../wire/Steps.ts"
import type { Request } from "../wire/Wire.ts"
import { errorBody } from "./MessagesError.ts"
import { read } from "./MessagesReader.ts"

/** Returns an estimate for pools in which no worker can count tokens: one token per four characters. */
const estimated = ({ messages, tools }: Request): number => {
  const told = tools.length === 0 ? "" : JSON.stringify(tools)
  return Usage.estimateUsage([...messages, { role: "system", content: told }], "").inputTokens
}

/** Returns the number of input tokens: the highest count among the workers, or an estimate if no worker can count. */
export const tokensOf = (request: Request, { pool }: Models.Team): number => {
  const { messages, tools } = request
  const asked = tools.length === 0 ? { messages } : { messages, tools }
  const counts = pool.workers.map((worker) => worker.countInputTokens?.(asked)).filter((count) => count !== undefined)
  return counts.length === 0 ? estimated(request) : Math.max(...counts)
}

const count = Effect.fnUntraced(function* (
  context: Endpoint.Context,
  incoming: HttpServerRequest.HttpServerRequest
): Effect.fn.Return<number, ApiError> {
  const caller = yield* context.authenticate(incoming.headers)
  return yield* Endpoint.withBody(context, incoming, caller.owner, (body) =>
    Steps.paced(function* () {
      const request = yield* read(Canonical.of(body, "messages"), incoming.headers)
      yield
      return tokensOf(request, Endpoint.teamOf(context.offer(), caller, request))
    })
  )
})

/** Creates the endpoint. */
export const make =
  (context: Endpoint.Context) =>
  (incoming: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.match(count(context, incoming), {
      onFailure: (error) => Respond.error({ error: errorBody }, error),
      onSuccess: (tokens) => Respond.json({ input_tokens: tokens })
    })
