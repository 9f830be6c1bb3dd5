/** Where a server's keys are kept: hashes, never secrets. */
import type { Keys } from "@divisi/server"
import type * as Effect from "effect/Effect"
import type { Failure } from "../invocation/Failure.ts"

/** A key, or the place of one that cannot be read. */
export type StoredKey = Keys.Key & { readonly damaged?: string }

/** Keys that may change at any time. */
export interface KeyStore {
  /** All of them; those that cannot be read are listed as damaged. */
  readonly all: Effect.Effect<ReadonlyArray<StoredKey>, Failure>
  /** Keeps a key, in the place of the one of its id. */
  readonly put: (key: Keys.Key) => Effect.Effect<void, Failure>
  /** The key of an id, as it is now. */
  readonly find: (id: string) => Effect.Effect<Keys.Key | undefined, Failure>
  /** Whether there is a key, or nobody can say. */
  readonly isAny: Effect.Effect<boolean, Failure>
}
