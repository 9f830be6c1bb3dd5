/**
 * The tiny Conductor as the command line uses it. A run loads it with its first plan, when the run is on the screen
 * already, and has the lexical policy in its stead where it cannot be loaded. What measures policies has no such stand-in:
 * it would be measured under another's name.
 */

import type * as Policy from "@divisi/core/Policy"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { type Failure, failed } from "../invocation/Failure.ts"
import * as OptionalPackage from "../invocation/OptionalPackage.ts"

const load: Effect.Effect<Policy.Policy, string, Scope.Scope> = Effect.gen(function* () {
  const TinyConductor = yield* Effect.tryPromise({
    try: () => import("@divisi/policy-tiny/TinyConductor"),
    catch: OptionalPackage.explain
  })
  return yield* Effect.mapError(TinyConductor.policy({ name: "conductor" }), ({ message }) => message)
})

/** What is said of one that does not load. */
const excuse = (why: string): string => `The lexical policy stands in for the tiny Conductor. ${why}`

/** The lexical policy, with why it plans. */
const standIn = (why: string): Policy.Policy => {
  const lexical = LexicalPolicy.make()
  return {
    ...lexical,
    propose: (context) =>
      Effect.map(lexical.propose(context), (proposal) => ({
        ...proposal,
        policy: lexical.name,
        notes: [excuse(why), ...(proposal.notes ?? [])]
      }))
  }
}

/** The policy, where the notes of plans are shown or where they are not. Its model leaves memory with the scope. */
export const make = Effect.fnUntraced(function* (
  areNotesShown: boolean
): Effect.fn.Return<Policy.Policy, Failure, Scope.Scope> {
  if (!areNotesShown) return yield* Effect.mapError(load, (why) => failed(`The tiny Conductor cannot plan. ${why}`))
  const scope = yield* Effect.scope
  const loadOrReplace = Effect.map(Effect.result(Scope.provide(load, scope)), (loaded) =>
    Result.isSuccess(loaded) ? loaded.success : standIn(loaded.failure)
  )
  // One promise for all runs: that the first of them is interrupted is nothing to the others.
  let policy: Promise<Policy.Policy> | undefined
  const loadOnce = Effect.promise(() => {
    policy ??= Effect.runPromise(loadOrReplace)
    return policy
  })
  return { name: "conductor", propose: (context) => Effect.flatMap(loadOnce, (policy) => policy.propose(context)) }
})
