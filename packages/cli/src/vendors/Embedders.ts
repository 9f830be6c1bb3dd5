/** Embedders for baselines that learn, by name. */
import { Embedder } from "@divisi/core"
import * as Vendor from "@divisi/recipes/Vendor"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Failure, usage } from "../invocation/Failure.ts"
import * as OptionalPackage from "../invocation/OptionalPackage.ts"
import { vendors } from "./Vendors.ts"

const withEmbeddings = vendors.filter(({ embed }) => embed !== undefined).map(({ name }) => name)

/**
 * How a router reads questions, where this machine reads them: what they are about shows in their beginning, and who is
 * asked must not wait for the rest to be read.
 */
export const ofQuestions: Vendor.Reading = { mostTokens: 48 }

/** Points of length 1: which way they lie says what a question is about, and how far out hardly anything. */
const directions =
  (embed: Vendor.Embed): Vendor.Embed =>
  async (texts, signal) =>
    (await embed(texts, signal)).map((point) => {
      const length = Math.hypot(...point) || 1
      return point.map((value) => value / length)
    })

/** The embedder of `vendor:model`, for as long as the scope is open; `undefined` for the default. */
export const named = (
  name: string | undefined,
  isOffline: boolean,
  /** The flag that names it, for errors. */
  by = "--embeddings",
  /** How a router reads; its points have length 1. */
  reading?: Vendor.Reading
): Effect.Effect<Embedder.Embedder | undefined, Failure, Scope.Scope> =>
  Effect.gen(function* () {
    if (name === undefined || name === "hashed") return undefined
    const reference = Vendor.parse(name)
    if (reference === undefined) {
      return yield* usage(`${by}: ${name} is not a model. Write vendor:model, as in openai:text-embedding-3-small.`)
    }
    if (isOffline && reference.vendor !== "llamacpp") {
      return yield* usage(`${by}: ${name} needs the network, so it cannot be used with --offline.`)
    }
    const environment = yield* Vendor.environment(vendors, [reference.vendor])
    const problem = Vendor.problemOf(vendors, reference, environment)
    if (problem !== undefined) return yield* usage(`${by}: ${Vendor.explain(vendors, name, problem)}`)
    const vendor = Vendor.find(vendors, reference.vendor, environment)!
    if (vendor.embed === undefined) {
      return yield* usage(`${by}: ${vendor.name} has no embeddings. Use ${withEmbeddings.join(", ")}.`)
    }
    const embed = yield* Effect.mapError(
      vendor.embed(reference.model, Vendor.connection(vendor, environment), reading),
      (error) => usage(`${by}: ${OptionalPackage.explain(error)}`)
    )
    return Embedder.fromPromise(name, reading === undefined ? embed : directions(embed))
  })
