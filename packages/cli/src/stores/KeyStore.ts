/** The store for a server's keys. It contains hashes, never secrets. */
import type { Keys } from "@divisi/server"
import type * as Effect from "effect/Effect"
import { type Failure, usage } from "../invocation/Failure.ts"
import * as Hint from "../invocation/Hint.ts"
import { oneLine } from "../view/Line.ts"

/** A stored key. If `damaged` is set, the entry could not be parsed. */
export type StoredKey = Keys.Key & { readonly damaged?: string }

/** Returns the changed key, or fails with the reason why the key cannot be changed. */
export type Change = (key: StoredKey) => Effect.Effect<Keys.Key, Failure>

/** Creates the failure for an unknown key id. If it is the name of keys, the message has their ids. */
export const unknown = (id: string, place: Hint.Place, keys: ReadonlyArray<StoredKey>): Failure => {
  const named = keys.filter(({ name }) => name === id).map(({ id }) => id)
  const hint =
    named.length === 0
      ? `List keys with: ${Hint.command("divisi key list", place)}`
      : `Use the id of the key with this name: ${named.join(" or ")}.`
  return usage(`No key has the id "${oneLine(id)}". ${hint}`)
}

/** A key store whose content may change at any time. */
export interface KeyStore {
  /** Returns all keys, including entries that could not be parsed. */
  readonly all: Effect.Effect<ReadonlyArray<StoredKey>, Failure>
  /** Stores a new key. */
  readonly add: (key: Keys.Key) => Effect.Effect<void, Failure>
  /** Changes a key and returns it. Another process cannot change it at the same time. Fails if the id is unknown. */
  readonly change: (id: string, change: Change) => Effect.Effect<Keys.Key, Failure>
  /** Returns the current version of a key. */
  readonly find: (id: string) => Effect.Effect<Keys.Key | undefined, Failure>
  /** Whether any key exists, or the store is unreachable. */
  readonly isAny: Effect.Effect<boolean, Failure>
}
