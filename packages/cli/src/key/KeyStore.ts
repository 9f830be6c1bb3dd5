/** Where a server's keys are kept: hashes, never secrets. */
import type { Keys } from "@divisi/server"
import type * as Effect from "effect/Effect"
import type { Failure } from "../invocation/Failure.ts"

/** Keys that may change at any time. */
export interface KeyStore {
  readonly all: Effect.Effect<ReadonlyArray<Keys.Key>, Failure>
  /** Keeps a key, in the place of the one of its id. */
  readonly put: (key: Keys.Key) => Effect.Effect<void, Failure>
  /** The key of an id, as it is now. */
  readonly find: (id: string) => Effect.Effect<Keys.Key | undefined, Failure>
  /** Whether there is a key, or nobody can say. */
  readonly isAny: Effect.Effect<boolean, Failure>
}
