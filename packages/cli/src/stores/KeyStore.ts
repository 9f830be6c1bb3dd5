/** The store of a server's keys: hashes, never secrets. */
import type { Keys } from "@divisi/server"
import type * as Effect from "effect/Effect"
import type { Failure } from "../invocation/Failure.ts"

/** A key; with `damaged`, an entry that cannot be read as one. */
export type StoredKey = Keys.Key & { readonly damaged?: string }

/** Keys that may change at any time. */
export interface KeyStore {
  /** All of them; those that cannot be read are listed as damaged. */
  readonly all: Effect.Effect<ReadonlyArray<StoredKey>, Failure>
  /** Stores a key, replacing the one with the same id. */
  readonly put: (key: Keys.Key) => Effect.Effect<void, Failure>
  /** The key of an id, as it is now. */
  readonly find: (id: string) => Effect.Effect<Keys.Key | undefined, Failure>
  /** Whether a key exists, or the store is unreachable. */
  readonly isAny: Effect.Effect<boolean, Failure>
}
