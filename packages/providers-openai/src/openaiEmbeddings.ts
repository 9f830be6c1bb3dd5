/** Computes embeddings with an OpenAI model, or with any server that has a compatible embeddings endpoint. */

import { Options as Tables } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import { WorkerError } from "@divisi/core/Worker"
import { ApiKey, VendorJson as Json, VendorError } from "@divisi/provider-kit"
import * as Result from "effect/Result"
import { connect, sentKey, timeoutMillis } from "./internal/client.ts"
import { reasonOf } from "./internal/errors.ts"
import type { OpenAiOptions } from "./options.ts"

/** The server, and options for embeddings. */
export interface EmbeddingsOptions
  extends Pick<
    OpenAiOptions,
    "apiKey" | "baseURL" | "fetch" | "headers" | "organization" | "project" | "timeoutMillis"
  > {
  /** Length of each vector, for models that support shortening. */
  readonly dimensions?: number | undefined
  /** Maximum number of retries for a failed call. Default: 3. */
  readonly maxRetries?: number | undefined
  /**
   * Maximum length of a text in characters. Longer texts are truncated, because models reject more than about 8,000
   * tokens. Default: 16,000.
   */
  readonly maxCharacters?: number | undefined
}

/** Returns a vector for each text, in the same order. */
export type Embed = (
  texts: ReadonlyArray<string>,
  signal?: AbortSignal
) => Promise<ReadonlyArray<ReadonlyArray<number>>>

const isPoint = (value: unknown): value is ReadonlyArray<number> =>
  Array.isArray(value) && value.every((one) => Number.isFinite(one))

/** Returns the vectors in the order of the texts. */
const pointsOf = (data: unknown, expected: number): ReadonlyArray<ReadonlyArray<number>> => {
  const points = Json.array(data, "data").map((one) => {
    const { embedding, index } = Json.object(one, "an embedding")
    if (!isPoint(embedding)) throw VendorError.unreadable("an embedding is not a list of numbers")
    return { embedding, index: Json.count(index) ?? 0 }
  })
  if (points.length !== expected)
    throw VendorError.unreadable(`${points.length} embeddings were returned for ${expected} texts`)
  return points.sort((left, right) => left.index - right.index).map(({ embedding }) => embedding)
}

const table = {
  dimensions: Tables.whole(1),
  maxRetries: Tables.whole(0),
  maxCharacters: Tables.whole(1),
  apiKey: Tables.anything,
  baseURL: Tables.anything,
  fetch: Tables.aFunction,
  headers: Tables.recordOf(Tables.text),
  organization: Tables.name,
  project: Tables.name,
  timeoutMillis: Tables.limit
} satisfies Tables.ShapeOf<EmbeddingsOptions>

/**
 * Creates an embedding function for an OpenAI model or a compatible server: vLLM, Ollama, llama-server, Together and
 * others.
 *
 * **Details**
 *
 * The key defaults to `OPENAI_API_KEY`. If `baseURL` points to another server, a key is sent only if `apiKey` is set.
 * Each call is one request; `Embedder.fromPromise` from `@divisi/core` creates batches. Failures are thrown as
 * `WorkerError`.
 *
 * **Example**
 *
 * ```ts no-run
 * import { openaiEmbeddings, presets } from "@divisi/providers-openai"
 *
 * const embed = openaiEmbeddings("text-embedding-3-small")
 * const [first, second] = await embed(["a violin", "a viola"])
 *
 * const local = openaiEmbeddings("nomic-embed-text", { baseURL: presets.ollama.baseURL })
 * ```
 */
export const openaiEmbeddings = (model: string, options: EmbeddingsOptions = {}): Embed => {
  Tables.check("openaiEmbeddings", options, table)
  const { apiKey, baseURL, dimensions, maxCharacters = 16_000, maxRetries = 3 } = options
  const isOther = baseURL !== undefined
  const key = isOther && apiKey === undefined ? undefined : ApiKey.resolve(apiKey, ["OPENAI_API_KEY"])
  const keyed = key && Result.getOrElse(key, () => undefined)
  const account = { organization: options.organization, project: options.project }
  const {
    baseURL: address,
    client,
    secrets
  } = connect(model, options, keyed, {
    organization: account.organization ?? (isOther ? null : undefined),
    project: account.project ?? (isOther ? null : undefined)
  })
  return async (texts, signal) => {
    if (key !== undefined && Result.isFailure(key)) {
      throw new WorkerError({ worker: model, reason: ApiKey.missing(key.failure) })
    }
    try {
      const { data } = await client.embeddings.create(
        defined({
          model,
          // Empty texts are rejected by the API.
          input: texts.map((text) => text.slice(0, maxCharacters) || " "),
          encoding_format: "float",
          // The SDK's types do not permit undefined parameters.
          dimensions
        }),
        { maxRetries, timeout: timeoutMillis(options), signal }
      )
      return pointsOf(data, texts.length)
    } catch (error) {
      const reason = VendorError.fromThrown(error, (error) => reasonOf(error, { secrets, nowMillis: Date.now() }))
      throw new WorkerError({
        worker: model,
        reason: ApiKey.explain(reason, sentKey(keyed, options), new URL(address).host)
      })
    }
  }
}
