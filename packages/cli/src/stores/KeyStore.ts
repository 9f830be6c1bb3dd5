/** The store for a server's keys. It contains hashes, never secrets. */
import type { Keys } from "@divisi/server"
import type * as Effect from "effect/Effect"
import type { Failure } from "../invocation/Failure.ts"

/** A stored key. If `damaged` is set, the entry could not be parsed. */
export type StoredKey = Keys.Key & { readonly damaged?: string }

/** A key store whose content may change at any time. */
export interface KeyStore {
  /** Returns all keys, including entries that could not be parsed. */
  readonly all: Effect.Effect<ReadonlyArray<StoredKey>, Failure>
  /** Stores a key, replacing the key with the same id. */
  readonly put: (key: Keys.Key) => Effect.Effect<void, Failure>
  /** Returns the current version of a key. */
  readonly find: (id: string) => Effect.Effect<Keys.Key | undefined, Failure>
  /** Whether any key exists, or the store is unreachable. */
  readonly isAny: Effect.Effect<boolean, Failure>
}
