/**
 * A client's choice of workers, budget and plan: by a header, a field of the body, its metadata, or after the name of
 * the model. All of them apply together: a worker excluded in one place is excluded.
 */
import { invalid } from "./ApiError.ts"
import * as Json from "./Json.ts"

/** The client's choice. */
export interface Choice {
  /** The workers that alone may work; all when absent. */
  readonly only?: ReadonlyArray<string> | undefined
  /** The workers that may not. */
  readonly exclude: ReadonlyArray<string>
  /** The most that the run may cost, in USD. */
  readonly costUsd?: number | undefined
  /** The name of the policy that plans; the server's own when absent. */
  readonly policy?: string | undefined
  /** Seed of all randomness in the run. */
  readonly seed?: number | undefined
  /** Whether the response has the tokens of the policy's completions. */
  readonly returnsTokens?: boolean | undefined
}

/** The headers of a request; their names are in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

const names = (value: string): ReadonlyArray<string> =>
  value
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")

/** A list of workers: a text with commas between them, or a list. */
const workers = (value: unknown, field: string): ReadonlyArray<string> =>
  typeof value === "string"
    ? names(value)
    : Json.list(value, field).map((name, at) => Json.name(name, `${field}[${at}]`))

const costUsd = Json.number(0, Number.MAX_VALUE)

const seed = Json.whole(0)

const numberOf = (value: string | undefined, field: string, read: (value: unknown, field: string) => number) =>
  value === undefined ? undefined : read(value.trim() === "" ? Number.NaN : Number(value), field)

const both = (lists: ReadonlyArray<ReadonlyArray<string> | undefined>): ReadonlyArray<string> | undefined =>
  lists
    .filter((list) => list !== undefined)
    .reduce<ReadonlyArray<string> | undefined>((sum, list) => {
      const named = new Set(list)
      return sum?.filter((name) => named.has(name)) ?? list
    }, undefined)

const least = (limits: ReadonlyArray<number | undefined>): number | undefined => {
  const known = limits.filter((limit) => limit !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/**
 * The name of a model, and who is left out behind it: `divisi:-openai:gpt-5,-ollama:qwen3` is `divisi` without these two.
 */
export const ofModel = (model: string): readonly [model: string, exclude: ReadonlyArray<string>] => {
  const at = model.indexOf(":-")
  return at < 0 ? [model, []] : [model.slice(0, at), names(model.slice(at + 1)).map((name) => name.replace(/^-/, ""))]
}

/** Whether a client wants notes as commentary, by a header or a field of the body. Throws an `ApiError`. */
export const isCommented = (body: Json.JsonObject, headers: Headers): boolean => {
  const own = Json.optional(body.divisi, "divisi", Json.object) ?? {}
  const way = headers["x-divisi-notes-as"] ?? Json.optional(own.notes_as, "divisi.notes_as", Json.text) ?? "reasoning"
  if (way === "reasoning" || way === "commentary") return way === "commentary"
  throw invalid("divisi.notes_as", "divisi.notes_as and x-divisi-notes-as must be reasoning or commentary.")
}

/**
 * Whether a client of Responses wants to know of each item who it is by: it takes part in OpenAI's beta of responses by
 * several agents (`responses_multi_agent=v1`, https://developers.openai.com/api/docs/guides/responses-multi-agent).
 */
export const isTagged = (body: Json.JsonObject, headers: Headers): boolean =>
  headers["openai-beta"]?.split(",").some((name) => name.trim() === "responses_multi_agent=v1") === true ||
  (Json.isObject(body.multi_agent) && body.multi_agent.enabled === true)

/** The fields of a body that are read here. */
export const fields = ["divisi", "metadata", "multi_agent", "return_token_ids"] as const

/** Returns the choice of a request. Throws an `ApiError` if it is unreadable. */
export const read = (model: string, body: Json.JsonObject, headers: Headers): Choice => {
  const own = Json.optional(body.divisi, "divisi", Json.object) ?? {}
  const metadata = Json.isObject(body.metadata) ? body.metadata : {}
  const exclude = [headers["x-divisi-exclude"], metadata.divisi_exclude, own.exclude].flatMap(
    (value) => Json.optional(value, "divisi.exclude", workers) ?? []
  )
  return {
    only: both(
      [headers["x-divisi-only"], metadata.divisi_only, own.only].map((value) =>
        Json.optional(value, "divisi.only", workers)
      )
    ),
    exclude: [...new Set([...exclude, ...ofModel(model)[1]])],
    costUsd: least([
      numberOf(headers["x-divisi-max-cost"], "x-divisi-max-cost", costUsd),
      Json.optional(own.max_cost_usd, "divisi.max_cost_usd", costUsd)
    ]),
    policy: Json.optional(
      headers["x-divisi-policy"] ?? own.policy ?? metadata.divisi_policy,
      "divisi.policy",
      Json.name
    ),
    returnsTokens: Json.optional(body.return_token_ids, "return_token_ids", Json.flag) === true ? true : undefined,
    seed: numberOf(headers["x-divisi-seed"], "x-divisi-seed", seed) ?? Json.optional(own.seed, "divisi.seed", seed)
  }
}
