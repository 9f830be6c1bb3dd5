/** Workers of the vendors' models, by the names that `--pool` and `--policy` take. */
import type { Worker } from "@tutti/core/Worker"
import * as Effect from "effect/Effect"
import { type Failure, messageOf, usage } from "../Failure.ts"
import * as Vendor from "./Vendor.ts"

/**
 * The output that a budget sets aside for a call where nobody says how much a worker may write. What models could write
 * at most costs many times what they do, and would let no budget begin.
 */
const reservedOutputTokens = 8_192

const reserved = (worker: Worker): Worker => ({
  ...worker,
  limits: {
    ...worker.limits,
    maxOutputTokens: Math.min(worker.limits?.maxOutputTokens ?? reservedOutputTokens, reservedOutputTokens)
  }
})

/** Whether a name is one of a vendor's model, or means to be. */
export const isReference = (name: string): boolean => Vendor.parse(name) !== undefined

const make = (name: string, environment: Vendor.Environment): Effect.Effect<Worker, Failure> => {
  const { model, vendor: vendorName } = Vendor.parse(name)!
  const vendor = Vendor.find(vendorName, environment)!
  return Effect.map(
    Effect.tryPromise({
      try: () => vendor.make(model, { id: name, ...Vendor.connection(vendor, environment) }),
      catch: (error) => usage(`${name} cannot be used: ${messageOf(error)}`)
    }),
    reserved
  )
}

/** The workers of these names, in their order. What is missing for any of them is said at once. */
export const workers = (
  names: ReadonlyArray<string>,
  environment: Vendor.Environment
): Effect.Effect<ReadonlyArray<Worker>, Failure> => {
  const problems = names.flatMap((name) => {
    const reference = Vendor.parse(name)
    const problem = reference && Vendor.problemOf(reference, environment)
    return problem === undefined ? [] : [Vendor.explain(name, problem)]
  })
  return problems.length > 0
    ? Effect.fail(usage(problems.join("\n")))
    : Effect.forEach(names, (name) => make(name, environment))
}
