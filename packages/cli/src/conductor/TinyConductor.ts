/**
 * The tiny Conductor as the command line uses it. A run loads it with its first plan, when the run is on the screen
 * already, and has the lexical policy in its stead where it cannot be loaded. What measures policies has no such
 * stand-in: it would be measured under another's name.
 */

import * as Policy from "@divisi/core/Policy"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { type Failure, failed } from "../invocation/Failure.ts"
import * as OptionalPackage from "../invocation/OptionalPackage.ts"

const name = "conductor"

const load: Effect.Effect<Policy.Policy, string, Scope.Scope> = Effect.gen(function* () {
  const TinyConductor = yield* Effect.tryPromise({
    try: () => import("@divisi/policy-tiny/TinyConductor"),
    catch: OptionalPackage.explain
  })
  return yield* Effect.mapError(TinyConductor.policy({ name }), ({ message }) => message)
})

/** The policy, where the notes of plans are shown or where they are not. Its model leaves memory with the scope. */
export const make = Effect.fnUntraced(function* (
  areNotesShown: boolean
): Effect.fn.Return<Policy.Policy, Failure, Scope.Scope> {
  if (!areNotesShown) return yield* Effect.mapError(load, (why) => failed(`The tiny Conductor cannot plan. ${why}`))
  const scope = yield* Effect.scope
  // One promise for all runs: that the first of them is interrupted is nothing to the others.
  let loaded: Promise<Result.Result<Policy.Policy, string>> | undefined
  const loadOnce = Effect.promise(() => {
    loaded ??= Effect.runPromise(Effect.result(Scope.provide(load, scope)))
    return loaded
  })
  const propose = Effect.fnUntraced(function* (context: Policy.Context) {
    const policy = yield* loadOnce
    if (Result.isSuccess(policy)) return yield* policy.success.propose(context)
    return yield* new Policy.PolicyError({ policy: name, detail: policy.failure })
  })
  return Policy.withFallback({ name, propose }, LexicalPolicy.make())
})
