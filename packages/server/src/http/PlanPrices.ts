/**
 * `POST /v1/runs/{id}/price`: returns the price of another plan for a round before the plan is approved, or of a fork
 * before it runs. The request calls no worker and costs nothing.
 */
import { ForkPrice, type Journal, Price, Transcript, WorkflowText } from "@divisi/core"
import { rounded } from "@divisi/core/Usage"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ContentSetting from "../ContentSetting.ts"
import * as Models from "../Models.ts"
import type { Offer } from "../Offer.ts"
import { type ApiError, invalid } from "../wire/ApiError.ts"
import * as Json from "../wire/Json.ts"
import * as Steps from "../wire/Steps.ts"
import type { Fork } from "../wire/Wire.ts"
import { idIn } from "./Background.ts"
import * as Endpoint from "./Endpoint.ts"
import * as Forks from "./Forks.ts"
import * as Respond from "./Respond.ts"
import * as Runs from "./Runs.ts"

/** Dependencies of the price endpoint. */
export interface Context extends Pick<Endpoint.Context, "authenticate" | "defects" | "limits" | "inFlight" | "lane"> {
  readonly journal: Journal.Journal
  readonly offer: () => Pick<Offer, "models" | "turns">
  /** With `"none"`, runs are not stored. */
  readonly content?: ContentSetting.ContentSetting | undefined
}

const planFields = { plan: Schema.String, round: Schema.optionalKey(Schema.NullOr(Schema.Int)) }

/** The schema of the request body, for documentation: a plan for a round, or a fork. */
export const planSchema = Schema.Union([Schema.Struct(planFields), Schema.Struct(Forks.cutFields)])

const amount = Schema.Struct({
  calls: Schema.Finite,
  tokens: Schema.Finite,
  /** In USD; null if it is not known in advance. */
  cost_usd: Schema.NullOr(Schema.Finite)
})

/** The price of a plan. */
export const priceSchema = Schema.Struct({
  object: Schema.Literal("run.price"),
  least: amount,
  likely: amount,
  most: amount
})

/** Maximum number of steps. The time for a price grows with the square of their number. */
const maxSteps = 200

/** A plan for a round, or a fork. */
type Asked =
  | { readonly plan: string; readonly round: number | undefined; readonly fork?: undefined }
  | { readonly fork: Fork }

/** Parses the body. Throws an `ApiError` if it is invalid. */
const read = (body: Json.JsonObject, runId: string): Asked => {
  if (Object.hasOwn(body, "at")) {
    Json.checkNames(body, Object.keys(Forks.cutFields), "a fork's price")
    return { fork: Forks.read(body, runId) }
  }
  Json.checkNames(body, Object.keys(planFields), "a plan's price")
  return { plan: Json.text(body.plan, "plan"), round: Json.optional(body.round, "round", Json.whole(0)) }
}

const amountOf = ({ calls, costUsd, tokens }: Price.Amount): typeof amount.Type => ({
  calls,
  tokens,
  cost_usd: costUsd === undefined ? null : rounded(costUsd)
})

/** The workers of the run that this server offers to the caller, in the run's order, and the worker of a fork. */
const poolOf = (
  models: Models.Options,
  workers: ReadonlyArray<string> | undefined,
  transcript: Transcript.Transcript,
  { change }: Partial<Fork> = {}
): WorkerPool.WorkerPool => {
  const { pool } = Models.allowed(models, workers)
  const ids = new Set(transcript.pool.map(({ id }) => id))
  if (typeof change?.worker === "string") ids.add(change.worker)
  const own = [...ids].map((id) => {
    const found = pool.workers.find((worker) => worker.id === id)
    if (found !== undefined) return found
    throw invalid("id", `The run needs the worker ${id}, which this API key cannot use.`)
  })
  return Result.getOrThrow(WorkerPool.make(own))
}

/** Parses a plan for a round. Throws an `ApiError` if it cannot be read. */
const planOf = (transcript: Transcript.Transcript, round: number, plan: string, workers: number) => {
  const own = Transcript.planRules(transcript, round)
  const rules = { ...own, poolSize: Math.max(own.poolSize, workers), maxSteps }
  const reading = WorkflowText.read(plan, { ...rules, mode: "strict", how: true })
  if (Result.isFailure(reading)) throw invalid("plan", reading.failure.message)
  return reading.success.workflow
}

/** Returns the price under the settings of the server. Throws an `ApiError` if the plan or the fork is invalid. */
const priceOf = (
  { models, turns }: Pick<Offer, "models" | "turns">,
  workers: ReadonlyArray<string> | undefined,
  transcript: Transcript.Transcript,
  asked: Asked
): Price.Price => {
  const { reassign, retry, skipUnseen, toolAccess = "last-step", tools = [], worker, checks } = turns.settings
  const pool = poolOf(models, workers, transcript, asked.fork)
  const setting = {
    pool,
    ...{ worker, retry, skipUnseen, checks },
    reassign: reassign === "never" ? "never" : "next",
    tools: tools.length === 0 || toolAccess === "none" ? undefined : toolAccess
  } as const
  if (asked.fork === undefined) {
    const { plan, round = Math.max(0, transcript.rounds.length - 1) } = asked
    return Price.of(planOf(transcript, round, plan, pool.workers.length), { ...setting, task: transcript.task })
  }
  const { plan, at } = asked.fork
  if (plan !== undefined && at.nested === undefined) planOf(transcript, at.round, plan, pool.workers.length)
  const price = ForkPrice.of(transcript, asked.fork, setting)
  if (Result.isFailure(price)) throw invalid("at", price.failure.message)
  return price.success
}

const answer = Effect.fnUntraced(function* (
  context: Context,
  incoming: HttpServerRequest.HttpServerRequest
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, ApiError> {
  const caller = yield* context.authenticate(incoming.headers)
  if (context.content === "none") return yield* ContentSetting.refused("Pricing plans")
  const id = idIn(incoming)
  const asked = yield* Endpoint.withBody(context, incoming, caller.owner, (body) => Steps.attempt(() => read(body, id)))
  const transcript = Transcript.fromEvents(yield* Runs.eventsOf(context.journal, caller, id))
  if (transcript === undefined) return yield* invalid("id", `Run "${id}" has no recorded start.`)
  const { least, likely, most } = yield* Steps.attempt(() =>
    priceOf(context.offer(), caller.workers, transcript, asked)
  )
  const body: typeof priceSchema.Type = {
    object: "run.price",
    least: amountOf(least),
    likely: amountOf(likely),
    most: amountOf(most)
  }
  return Respond.json(body)
})

/** Creates the endpoint `POST /v1/runs/{id}/price`. */
export const make =
  (context: Context) =>
  (incoming: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.catch(answer(context, incoming), Runs.refused(context, incoming))
