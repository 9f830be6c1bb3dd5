/**
 * The processes that use a file. Each has a lock that the system frees when it ends, however it ends, so that no lease
 * has to expire.
 */
import { randomUUID } from "node:crypto"
import path from "node:path"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Lock from "../Lock.ts"

/** The processes that use a file, each by the lock that it holds. */
export const owners = (file: string, scope: Scope.Scope) => {
  const self = randomUUID()
  const dead = new Set<string>()
  const lockOf = (owner: string) => path.join(`${file}-owners`, `${owner}.lock`)
  return {
    self,
    isDead: (owner: string) => dead.has(owner),
    /** Holds the lock of this process, from its first claim on. */
    enter: Effect.cached(Scope.provide(Lock.hold(lockOf(self)), scope)),
    /** Returns a description of the owner of a run, or `undefined` if its process has ended. */
    find: (owner: string): Effect.Effect<string | undefined> =>
      Effect.suspend(() => {
        if (dead.has(owner)) return Effect.undefined
        if (owner === self) return Effect.succeed("this process")
        return Effect.match(Effect.scoped(Lock.hold(lockOf(owner))), {
          onSuccess: () => {
            dead.add(owner)
            return undefined
          },
          onFailure: ({ reason }) => Lock.nameOf(reason._tag === "Held" ? reason.holder : undefined)
        })
      })
  }
}
