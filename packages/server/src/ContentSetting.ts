/**
 * Implements the server option `content`. Content means the text of requests and runs: instructions, questions,
 * subtasks, answers, reasoning, tool arguments and tool results.
 */
import * as Effect from "effect/Effect"
import * as UrlParams from "effect/http/UrlParams"
import { type ResponseStore, make as responseStore } from "./responses/ResponseStore.ts"
import { ApiError, invalid } from "./wire/ApiError.ts"

/** All accepted values. */
export const values = ["full", "none"] as const

/**
 * `"full"` stores content if other options enable it. `"none"` keeps content in memory only and leaves it out of logs,
 * spans and run pages. Request spans still contain the path, the client's address and its `User-Agent`.
 */
export type ContentSetting = (typeof values)[number]

const reason = 'This server stores no content ("content" is "none").'

/** Returns the options with every option that would store content removed. */
export const applied = <
  O extends {
    readonly content?: ContentSetting | undefined
    readonly journal?: unknown
    readonly responses?: unknown
    readonly keepRating?: unknown
  }
>(
  options: O
): O =>
  options.content === "none" ? { ...options, journal: undefined, responses: undefined, keepRating: undefined } : options

/** Creates the error for an endpoint that requires stored content. */
export const refused = (what: string): ApiError =>
  new ApiError({ kind: "not-found", message: `${what} is not available. ${reason}` })

/** Matches all names of query parameters. */
const everyName = [/^/]

/** Runs an effect. If `content` is `"none"`, its spans omit the values in the URL's query, which may be personal. */
export const traced = <A, E, R>(
  content: ContentSetting | undefined,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  content === "none" ? Effect.provideService(effect, UrlParams.CurrentRedactedNames, everyName) : effect

const explained = (error: ApiError): ApiError =>
  error.message.includes("not found")
    ? new ApiError({ kind: error.kind, field: error.field, message: `${error.message} ${reason}` })
    : error

/**
 * Wraps a response store so that nothing is written to it. Requests that require a stored response are rejected;
 * `empty` handles all other requests.
 */
const withoutContent = (empty: ResponseStore): ResponseStore => ({
  recall: (body, owner) =>
    body.background === true
      ? Effect.fail(invalid("background", `background: true needs a stored response. ${reason}`))
      : Effect.mapBoth(empty.recall(body, owner), {
          onSuccess: (recalled) => ({ ...recalled, store: false }),
          onFailure: explained
        }),
  keep: () => Effect.void,
  get: (id, owner) => Effect.mapError(empty.get(id, owner), explained),
  has: () => Effect.succeed(false),
  forget: () => Effect.void
})

/** Creates the response store for a server, respecting its `content` option. */
export const storeOf = (content: ContentSetting | undefined, options: Parameters<typeof responseStore>[0]) =>
  Effect.map(responseStore(options), (store) => (content === "none" ? withoutContent(store) : store))
