/**
 * Reads how a client selects workers, budget and policy: through headers, body fields, metadata, or a suffix of the
 * model name. All sources are combined: a worker excluded by any of them is excluded.
 */
import { invalid } from "./ApiError.ts"
import * as Json from "./Json.ts"

/** The client's selection. */
export interface Choice {
  /** Ids of the workers that may be used. Default: all. */
  readonly only?: ReadonlyArray<string> | undefined
  /** Ids of the workers to exclude. */
  readonly exclude: ReadonlyArray<string>
  /** Maximum cost of the run, in USD. */
  readonly costUsd?: number | undefined
  /** Name of the policy. Defaults to the server's policy. */
  readonly policy?: string | undefined
  /** Seed for all randomness in the run. */
  readonly seed?: number | undefined
  /** Whether to return the tokens of the policy's completions. */
  readonly returnsTokens?: boolean | undefined
}

/** Request headers. Names are in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

const names = (value: string): ReadonlyArray<string> =>
  value
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")

/** Parses a list of workers, given as a list or as comma-separated text. */
const workers = (value: unknown, field: string): ReadonlyArray<string> =>
  typeof value === "string"
    ? names(value)
    : Json.list(value, field).map((name, at) => Json.name(name, `${field}[${at}]`))

const costUsd = Json.number(0, Number.MAX_VALUE)

const seed = Json.whole(0)

const numberOf = (value: string | undefined, field: string, read: (value: unknown, field: string) => number) =>
  value === undefined
    ? undefined
    : read(value.trim() === "" || Number.isNaN(Number(value)) ? value : Number(value), field)

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
 * Splits a model name from the worker exclusions after it: `divisi:-openai:gpt-6.1-sol,-ollama:qwen3` is `divisi`
 * without these two workers.
 */
export const ofModel = (model: string): readonly [model: string, exclude: ReadonlyArray<string>] => {
  const at = model.indexOf(":-")
  return at < 0 ? [model, []] : [model.slice(0, at), names(model.slice(at + 1)).map((name) => name.replace(/^-/, ""))]
}

/** Fields of the `divisi` object in a request body. */
const fieldNames = ["exclude", "only", "max_cost_usd", "policy", "seed", "notes_as"]

/** Returns the `divisi` object of a body. A misspelt limit must not be ignored, so unknown fields are rejected. */
const ownIn = (body: Json.JsonObject): Json.JsonObject => {
  const own = Json.optional(body.divisi, "divisi", Json.object) ?? {}
  Json.checkNames(own, fieldNames, "a request", "divisi.")
  return own
}

/**
 * Whether the client wants progress notes as commentary, set by a header or a body field. Throws an `ApiError` for an
 * unknown value.
 */
export const isCommented = (body: Json.JsonObject, headers: Headers): boolean => {
  const own = ownIn(body)
  const way = headers["x-divisi-notes-as"] ?? Json.optional(own.notes_as, "divisi.notes_as", Json.text) ?? "reasoning"
  if (way === "reasoning" || way === "commentary") return way === "commentary"
  throw invalid("divisi.notes_as", "divisi.notes_as and x-divisi-notes-as must be reasoning or commentary.")
}

/**
 * Whether a Responses client wants the author of each item, because it uses OpenAI's multi-agent beta
 * (`responses_multi_agent=v1`, https://developers.openai.com/api/docs/guides/responses-multi-agent).
 */
export const isTagged = (body: Json.JsonObject, headers: Headers): boolean =>
  headers["openai-beta"]?.split(",").some((name) => name.trim() === "responses_multi_agent=v1") === true ||
  (Json.isObject(body.multi_agent) && body.multi_agent.enabled === true)

/** Body fields handled by this module. */
export const fields = ["divisi", "metadata", "multi_agent", "return_token_ids"] as const

/** Reads the selection from a request. Throws an `ApiError` if a value is invalid. */
export const read = (model: string, body: Json.JsonObject, headers: Headers): Choice => {
  const own = ownIn(body)
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
