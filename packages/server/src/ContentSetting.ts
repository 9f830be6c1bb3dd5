/**
 * The setting `content` of a server. Content is the text of requests and of runs: instructions, questions, subtasks,
 * answers, reasoning, and the arguments and results of tools.
 */
import * as Effect from "effect/Effect"
import { type ResponseStore, make as responseStore } from "./responses/ResponseStore.ts"
import { ApiError, invalid } from "./wire/ApiError.ts"

/** The values of the setting. */
export const values = ["full", "none"] as const

/**
 * `"full"` stores content if the other options enable it. `"none"` holds content in memory only, and omits it from logs
 * and from the pages of runs.
 */
export type ContentSetting = (typeof values)[number]

const reason = 'This server stores no content ("content" is "none").'

/** Returns the options without those that would store content. */
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

/** An error for an endpoint that needs stored content. */
export const refused = (what: string): ApiError =>
  new ApiError({ kind: "not-found", message: `${what} is not available. ${reason}` })

const explained = (error: ApiError): ApiError =>
  error.message.includes("not found")
    ? new ApiError({ kind: error.kind, field: error.field, message: `${error.message} ${reason}` })
    : error

/** Returns a store that stores nothing and refuses requests that need a stored response. `empty` reads the requests. */
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

/** Makes the store of responses of a server. */
export const storeOf = (content: ContentSetting | undefined, options: Parameters<typeof responseStore>[0]) =>
  Effect.map(responseStore(options), (store) => (content === "none" ? withoutContent(store) : store))
