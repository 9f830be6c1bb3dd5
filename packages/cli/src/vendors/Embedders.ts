/** Creates embedders by name, for learned baselines and routers. */
import { Embedder } from "@divisi/core"
import * as Vendor from "@divisi/recipes/Vendor"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { clause, type Failure, usage } from "../invocation/Failure.ts"
import * as OptionalPackage from "../invocation/OptionalPackage.ts"
import * as KnownModels from "./KnownModels.ts"
import { vendors } from "./Vendors.ts"

const withEmbeddings = vendors.filter(({ embed }) => embed !== undefined).map(({ name }) => name)

/**
 * Reading limit for routers that embed questions on this machine. The start of a question is sufficient to determine
 * its topic, and reading all of it would delay the answer.
 */
export const ofQuestions: Vendor.Reading = { mostTokens: 48 }

/**
 * Normalizes embeddings to length 1. The direction of an embedding indicates the topic of a question, while its length
 * carries almost no information.
 */
const directions =
  (embed: Vendor.Embed): Vendor.Embed =>
  async (texts, signal) =>
    (await embed(texts, signal)).map((point) => {
      const length = Math.hypot(...point) || 1
      return point.map((value) => value / length)
    })

/**
 * Returns the embedder for `vendor:model`, which can be used until the scope closes. `undefined` selects the default.
 */
export const named = (
  name: string | undefined,
  isOffline: boolean,
  /** Name of the flag, for error messages. */
  by = "--embeddings",
  /** How a router reads questions. If set, embeddings are normalized to length 1. */
  reading?: Vendor.Reading
): Effect.Effect<Embedder.Embedder | undefined, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    if (name === undefined || name === "hashed") return undefined
    const reference = Vendor.parse(name)
    if (reference === undefined) {
      return yield* usage(
        `${by}: "${name}" is not a model name. Use vendor:model, such as ${KnownModels.fullName(name) ?? "openai:text-embedding-3-small"}.`
      )
    }
    if (isOffline && reference.vendor !== "llamacpp") {
      return yield* usage(`${by}: ${name} needs the network, so it cannot be used with --offline.`)
    }
    const environment = yield* Vendor.environment(vendors, [reference.vendor])
    const problem = Vendor.problemOf(vendors, reference, environment)
    if (problem !== undefined) {
      return yield* usage(`${by}: ${clause(Vendor.explain(vendors, name, problem, KnownModels.fullName(name)))}`)
    }
    const vendor = Vendor.find(vendors, reference.vendor, environment)!
    if (vendor.embed === undefined) {
      return yield* usage(`${by}: ${vendor.name} has no embedding models. Use ${withEmbeddings.join(", ")}.`)
    }
    const embed = yield* Effect.mapError(
      vendor.embed(reference.model, Vendor.connection(vendor, environment), reading),
      (error) => usage(`${by}: ${OptionalPackage.explain(error)}`)
    )
    return Embedder.fromPromise(name, reading === undefined ? embed : directions(embed))
  })
