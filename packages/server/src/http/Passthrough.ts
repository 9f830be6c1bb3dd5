/**
 * `/v1/embeddings` and `/v1/completions`: requests that are forwarded to a worker's vendor without planning. They pass
 * through the gate and are charged like calls in a run: the worst-case cost is reserved on the caller's and the server's
 * accounts before sending, and settled to the usage reported by the vendor.
 */
import { type Budget, Resilience } from "@divisi/core"
import * as Usage from "@divisi/core/Usage"
import type { Forward, ForwardEndpoint, Forwarded, Worker } from "@divisi/core/Worker"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { Caller } from "../Caller.ts"
import * as Models from "../Models.ts"
import * as RequestLog from "../RequestLog.ts"
import * as Failure from "../segment/Failure.ts"
import { ApiError } from "../wire/ApiError.ts"
import * as Json from "../wire/Json.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import * as Steps from "../wire/Steps.ts"
import * as Endpoint from "./Endpoint.ts"
import * as Respond from "./Respond.ts"
import * as Spent from "./Spent.ts"

// -------------------------------------------------------------------------------------------------------------------
// Workers
// -------------------------------------------------------------------------------------------------------------------

const hasForward = (worker: Worker): worker is Worker & { readonly forward: Forward } => worker.forward !== undefined

/** A worker that supports the endpoint, for messages. */
const examples: Readonly<Record<ForwardEndpoint, string>> = {
  embeddings: "openai:text-embedding-3-small",
  completions: "llama-server:<model>"
}

/**
 * Whether a name refers to a worker: `worker/<id>`, the worker id, or the model id after the vendor (`gpt-4o` for
 * `openai:gpt-4o`).
 */
const isNamed = (name: string, { id }: Worker): boolean =>
  name === `worker/${id}` || name === id || id.endsWith(`:${name}`)

/**
 * Returns the worker for a requested name. Throws an `ApiError` if there is no such worker or the caller may not use
 * it.
 */
const workerOf = (models: Models.Options, caller: Caller, endpoint: ForwardEndpoint, asked: string) => {
  const { aliases = {}, pool } = Models.allowed(models, caller.workers)
  const able = pool.workers.filter(hasForward)
  const workerNamed = (asked: string) => {
    const name = Object.hasOwn(aliases, asked) ? aliases[asked]! : asked
    return able.find((worker) => isNamed(name, worker))
  }
  const meant = Models.meant(asked).find((name) => workerNamed(name) !== undefined) ?? asked
  if (!Models.mayName(meant, caller.models)) {
    const message = `This API key does not allow model "${asked}". Allowed models: ${caller.models?.join(", ")}.`
    throw new ApiError({ kind: "permission", message, field: "model" })
  }
  const worker = workerNamed(meant)
  if (worker !== undefined) return worker
  const message =
    able.length === 0
      ? `No worker of this server supports ${endpoint}. Add one with --pool, such as ${examples[endpoint]}.`
      : `Model "${asked}" does not support ${endpoint}. Models: ${able.map(({ id }) => id).join(", ")}.`
  throw new ApiError({ kind: "not-found", field: "model", message })
}

// -------------------------------------------------------------------------------------------------------------------
// Accounts
// -------------------------------------------------------------------------------------------------------------------

/** Default number of output tokens for a completion, as in OpenAI's API. */
const defaultOutputTokens = 16

const countOf = (value: unknown, otherwise: number): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : otherwise

/** Returns an upper bound for the usage of a request: one input token per byte, plus the requested output. */
const boundOf = (endpoint: ForwardEndpoint, body: Json.JsonObject, bytes: number): Usage.Usage => {
  if (endpoint === "embeddings") return { inputTokens: bytes, outputTokens: 0, estimated: true }
  const samples = Math.max(countOf(body.n, 1), countOf(body.best_of, 1))
  const prompts = Array.isArray(body.prompt) ? Math.max(1, body.prompt.length) : 1
  const each = countOf(body.max_tokens, defaultOutputTokens)
  return { inputTokens: bytes, outputTokens: each * samples * prompts, estimated: true }
}

/** Extracts the usage from the end of a response, either a JSON body or a stream with usage in its last events. */
const usageReader = () => {
  const decoder = new TextDecoder()
  let tail = ""
  const last = (field: string): number | undefined => {
    const found = [...tail.matchAll(new RegExp(`"${field}"\\s*:\\s*(\\d{1,15})`, "g"))].at(-1)?.[1]
    return found === undefined ? undefined : Number(found)
  }
  return {
    take: (bytes: Uint8Array) => {
      tail = (tail + decoder.decode(bytes, { stream: true })).slice(-8_192)
    },
    /** Returns the reported usage, or the upper bound if the vendor reports nothing or more than the bound. */
    end: (bound: Usage.Usage): Usage.Usage => {
      const inputTokens = last("prompt_tokens")
      const outputTokens = last("completion_tokens") ?? 0
      const isCredible =
        inputTokens !== undefined && inputTokens <= bound.inputTokens && outputTokens <= bound.outputTokens
      return isCredible ? { inputTokens, outputTokens } : bound
    }
  }
}

/** Reserves an amount on all accounts, in order. If an account refuses, the reservations before it are released. */
const reserveAll = (ledgers: ReadonlyArray<Budget.Ledger>, amount: Budget.Amount) =>
  Effect.gen(function* () {
    const held: Array<readonly [Budget.Ledger, Budget.Reservation]> = []
    for (const ledger of ledgers) {
      const release = Effect.forEach(held, ([other, reservation]) => other.release(reservation), { discard: true })
      held.push([ledger, yield* Effect.onError(ledger.reserve(amount), () => release)])
    }
    return held
  })

// -------------------------------------------------------------------------------------------------------------------
// The endpoint
// -------------------------------------------------------------------------------------------------------------------

/** A request that was sent and whose response is pending. */
interface Sent {
  readonly forwarded: Forwarded
  readonly take: (bytes: Uint8Array) => void
  readonly settle: Effect.Effect<void>
}

const open = Effect.fnUntraced(function* (
  context: Endpoint.Context,
  endpoint: ForwardEndpoint,
  incoming: HttpServerRequest.HttpServerRequest,
  logged: RequestLog.Open
): Effect.fn.Return<Sent, ApiError> {
  const caller = yield* context.authenticate(incoming.headers)
  logged.owner = caller.owner
  yield* Spent.refuse(caller, context.ledger)
  return yield* Endpoint.withBody(context, incoming, caller.owner, (body, bytes) =>
    send(context, endpoint, caller, logged, body, bytes)
  )
})

/** Forwards a request to its worker. */
const send = Effect.fnUntraced(function* (
  context: Endpoint.Context,
  endpoint: ForwardEndpoint,
  caller: Caller,
  logged: RequestLog.Open,
  body: Json.JsonObject,
  bytes: number
): Effect.fn.Return<Sent, ApiError> {
  const clock = yield* Clock.Clock
  const gate = yield* Resilience.Gate
  const { models, turns } = context.offer()
  const worker = yield* Steps.attempt(() => {
    const model = Json.name(body.model, "model")
    logged.model = model
    return workerOf(models, caller, endpoint, model)
  })
  const bound = boundOf(endpoint, body, bytes)
  const amount = {
    costUsd: Usage.cost(worker.pricing, bound),
    tokens: bound.inputTokens + bound.outputTokens
  }
  const ledgers = [caller.ledger, turns.ledger].filter((ledger) => ledger !== undefined)
  const reader = usageReader()
  const forward = worker.forward(endpoint, body)
  const likelyTokens = Math.ceil(bytes / 4) + bound.outputTokens
  const sent = gate === undefined ? forward : gate.enter(worker, likelyTokens, () => forward)
  return yield* Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const held = yield* Effect.mapError(
        reserveAll(ledgers, amount),
        ({ message }) => new ApiError({ kind: "quota", message })
      )
      const close = (used: Usage.Usage | undefined) => {
        if (used !== undefined) caller.onUsed?.(used.inputTokens + used.outputTokens, clock.currentTimeMillisUnsafe())
        const paid = used && { usage: used, costUsd: Usage.cost(worker.pricing, used) }
        return Effect.forEach(
          held,
          ([ledger, reservation]) => (paid ? ledger.settle(reservation, paid) : ledger.release(reservation)),
          { discard: true }
        )
      }
      const forwarded = yield* restore(sent).pipe(
        // A request refused by the vendor is not billed. An interrupted request may have been billed, so the upper
        // bound is charged.
        Effect.onExit((exit) =>
          Exit.isSuccess(exit) ? Effect.void : close(Exit.hasInterrupts(exit) ? bound : undefined)
        ),
        Effect.mapError((error) => Failure.ofWorker(error, error.message))
      )
      return { forwarded, take: reader.take, settle: Effect.suspend(() => close(reader.end(bound))) }
    })
  )
})

/** Creates the endpoint. */
export const make =
  (context: Endpoint.Context, endpoint: ForwardEndpoint) =>
  (incoming: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.clockWith((clock) => {
      const now = () => clock.currentTimeMillisUnsafe()
      const logged: RequestLog.Open = { at: now(), wire: endpoint }
      const end = (status: number, isCut: boolean) => RequestLog.tell(context.log, logged, status, now(), isCut)
      if (context.isDraining()) {
        return Effect.succeed(Respond.error({ error: OpenAi.errorBody }, Endpoint.draining))
      }
      return Effect.match(open(context, endpoint, incoming, logged), {
        onFailure: (error) => {
          logged.error = error.kind
          end(error.status, false)
          return Respond.error({ error: OpenAi.errorBody }, error)
        },
        onSuccess: ({ forwarded, settle, take }) =>
          HttpServerResponse.stream(
            forwarded.body.pipe(
              Stream.tap((bytes) => Effect.sync(() => take(bytes))),
              Stream.onExit((exit) =>
                Effect.andThen(
                  settle,
                  Effect.sync(() => end(200, Exit.isFailure(exit)))
                )
              )
            ),
            { contentType: forwarded.contentType }
          )
      })
    })
