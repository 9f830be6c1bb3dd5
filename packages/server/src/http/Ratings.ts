/** `POST /v1/runs/{id}/rating`: ratings that clients submit for answers. */
import { type Journal, Outcome, StepFailure, Transcript } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import type { Caller } from "../Caller.ts"
import * as ContentSetting from "../ContentSetting.ts"
import * as Rights from "../Rights.ts"
import { ApiError, invalid } from "../wire/ApiError.ts"
import * as Json from "../wire/Json.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import * as Steps from "../wire/Steps.ts"
import * as Endpoint from "./Endpoint.ts"
import * as Respond from "./Respond.ts"
import * as Runs from "./Runs.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A rating for a run or one of its steps. */
export interface Rating {
  /** Score from 0 (bad) to 1 (good). */
  readonly score: number
  readonly source: Outcome.Source
  /** The rated step. If omitted, the rating applies to the whole run. */
  readonly step?: { readonly round: number; readonly step: number } | undefined
  /** Id of the rater's key. A later rating for the same answer by the same key replaces the earlier one. */
  readonly rater: string
  /** A comment, up to {@link mostCharacters} characters. */
  readonly note?: string | undefined
  /** Time of the rating, in milliseconds since 1970. */
  readonly at: number
}

/** Stores a rating. The transcript belongs to the rated run, which has an answer. */
export type Keep = (transcript: Transcript.Transcript, rating: Rating) => Effect.Effect<void, ApiError>

/**
 * Dependencies of the rating endpoint.
 *
 * @internal
 */
export interface Context extends Pick<Endpoint.Context, "authenticate" | "limits" | "inFlight" | "lane"> {
  readonly journal: Journal.Journal
  /** Stores ratings. If `undefined`, ratings are not accepted. */
  readonly keep: Keep | undefined
  /** With `"none"`, runs are not stored and cannot be rated. */
  readonly content?: ContentSetting.ContentSetting | undefined
}

/** Maximum length of a comment, in characters. */
const mostCharacters = 2_000

const place = Schema.Struct({
  round: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  step: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})

const score = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

const optional = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

const besides = {
  source: optional(Schema.Literals(Outcome.sources)),
  step: optional(place),
  note: optional(Schema.String.check(Schema.isMaxLength(mostCharacters)))
}

/**
 * The schema of the request body, for documentation. Requests are parsed by `read`, whose errors name the invalid
 * field.
 *
 * @internal
 */
export const ratingSchema = Schema.Union([
  Schema.Struct({ rating: Schema.Literals(["up", "down"]), score: Schema.optionalKey(Schema.Null), ...besides }),
  Schema.Struct({ score, rating: Schema.optionalKey(Schema.Null), ...besides })
])

/**
 * The response to a stored rating.
 *
 * @internal
 */
export const ratedSchema = Schema.Struct({
  object: Schema.Literal("run.rating"),
  run: Schema.String,
  step: Schema.optionalKey(place),
  worker: Schema.String,
  score,
  source: Schema.Literals(Outcome.sources)
})

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const words: Readonly<Record<string, number>> = { up: 1, down: 0 }

const thumb = (value: unknown, field: string): number => {
  const score = typeof value === "string" && Object.hasOwn(words, value) ? words[value] : undefined
  if (score === undefined) throw invalid(field, `${field} must be "up" or "down".`)
  return score
}

const sourceOf = (value: unknown, field: string): Outcome.Source => {
  const source = Outcome.sources.find((one) => one === value)
  if (source === undefined) throw invalid(field, `${field} must be one of ${Outcome.sources.join(", ")}.`)
  return source
}

const stepOf = (value: unknown, field: string): { readonly round: number; readonly step: number } => {
  const { round, step } = Json.object(value, field)
  return { round: Json.whole(0)(round, `${field}.round`), step: Json.whole(0)(step, `${field}.step`) }
}

const noteOf = (value: unknown, field: string): string => {
  const note = Json.text(value, field)
  if (note.length > mostCharacters) throw invalid(field, `${field} must have at most ${mostCharacters} characters.`)
  if (note.includes("\0") || !note.isWellFormed()) {
    throw invalid(field, `${field} must be well-formed Unicode without NUL.`)
  }
  return note
}

/**
 * Parses the body of a rating. Throws an `ApiError` if it is invalid.
 *
 * @internal
 */
export const read = (body: Json.JsonObject): Omit<Rating, "at" | "rater"> => {
  const rating = Json.optional(body.rating, "rating", thumb)
  const score = Json.optional(body.score, "score", Json.number(0, 1))
  if ((rating === undefined) === (score === undefined)) {
    throw invalid("score", 'Send either rating ("up" or "down") or score (from 0 to 1).')
  }
  return {
    score: rating ?? score!,
    source: Json.optional(body.source, "source", sourceOf) ?? "user",
    step: Json.optional(body.step, "step", stepOf),
    note: Json.optional(body.note, "note", noteOf)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The endpoint
// -------------------------------------------------------------------------------------------------------------------

const keepsNone = new ApiError({
  kind: "not-found",
  message: "This server does not store ratings: it serves the offline gym, or its operator has turned ratings off."
})

/** Returns the worker or team that produced the rated answer. Fails if the run or step does not exist. */
const workerOf = (
  transcript: Transcript.Transcript | undefined,
  id: string,
  rating: Rating
): Effect.Effect<string, ApiError> => {
  const { at, score, source, step } = rating
  const isAnswered = transcript?.answer !== undefined
  const outcome = isAnswered ? Outcome.fromTranscript(transcript, { at, score, source, step }) : undefined
  if (outcome !== undefined) return Effect.succeed(outcome.worker)
  const outages = isAnswered && step === undefined ? StepFailure.outagesOf(transcript) : []
  if (outages.length > 0) {
    return Effect.fail(invalid("step", `A worker failed in run ${id}, so only answered steps can be rated. Send step.`))
  }
  return Effect.fail(
    isAnswered && step !== undefined
      ? invalid("step", `Run ${id} has no answered step ${step.step} in round ${step.round}.`)
      : invalid("id", `Run ${id} has no answer to rate.`)
  )
}

/**
 * Maximum number of ratings that a key may submit for the same answer.
 *
 * @internal
 */
export const mostPerAnswer = 16

/** Maximum number of answers whose ratings are counted at a time. */
const rememberedAnswers = 20_000

/** Counts ratings per answer and key, so that a client cannot flood the log through one run. */
const counter = () => {
  const counts = new Map<string, number>()
  return (run: string, { rater, step }: Pick<Rating, "rater" | "step">): Effect.Effect<void, ApiError> =>
    Effect.suspend(() => {
      const answer = `${rater} ${step === undefined ? "" : `${step.round}.${step.step}`} ${run}`
      const count = (counts.get(answer) ?? 0) + 1
      if (count > mostPerAnswer) {
        const message = `This API key has already rated this answer ${mostPerAnswer} times. Its last rating counts; further ones are rejected.`
        return Effect.fail(new ApiError({ kind: "rate-limit", message }))
      }
      counts.delete(answer)
      counts.set(answer, count)
      const [oldest] = counts.keys()
      if (counts.size > rememberedAnswers && oldest !== undefined) counts.delete(oldest)
      return Effect.void
    })
}

type Count = ReturnType<typeof counter>

/** Rating sources that outrank user ratings and therefore require a right. */
const needsRight: ReadonlySet<Outcome.Source> = new Set(["grader", "check"])

const mayRate = ({ rights }: Caller, { source }: Pick<Rating, "source">): Effect.Effect<void, ApiError> => {
  if (!needsRight.has(source) || Rights.has(rights, "rate")) return Effect.void
  const message = `Rating as ${source} needs an API key with the right "rate".`
  return Effect.fail(new ApiError({ kind: "permission", message, field: "source" }))
}

const idIn = ({ url }: HttpServerRequest.HttpServerRequest): string =>
  new URL(url, "http://localhost").pathname.split("/")[3] ?? ""

const answer = Effect.fnUntraced(function* (
  context: Context,
  count: Count,
  incoming: HttpServerRequest.HttpServerRequest
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, ApiError> {
  const { authenticate, journal, keep } = context
  const caller = yield* authenticate(incoming.headers)
  if (context.content === "none") return yield* ContentSetting.refused("Rating runs")
  if (keep === undefined) return yield* keepsNone
  const id = idIn(incoming)
  const said = yield* Endpoint.withBody(context, incoming, caller.owner, (body) => Steps.attempt(() => read(body)))
  yield* mayRate(caller, said)
  const transcript = Transcript.fromEvents(yield* Runs.eventsOf(journal, caller, id))
  const rating: Rating = { ...said, rater: caller.owner, at: yield* Clock.currentTimeMillis }
  const worker = yield* workerOf(transcript, id, rating)
  yield* count(id, rating)
  yield* keep(transcript!, rating)
  const { score, source, step } = rating
  const rated: typeof ratedSchema.Type = { object: "run.rating", run: id, worker, score, source }
  return Respond.json(step === undefined ? rated : { ...rated, step })
})

/**
 * Creates the endpoint `POST /v1/runs/{id}/rating`.
 *
 * @internal
 */
export const make = (context: Context) => {
  const count = counter()
  return (incoming: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.catch(answer(context, count, incoming), (error) =>
      Effect.succeed(Respond.error({ error: OpenAi.errorBody }, error))
    )
}
