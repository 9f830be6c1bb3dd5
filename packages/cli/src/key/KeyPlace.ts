/** Opens the storage for keys and their accounts: files, or a database. */
import type { Account } from "@divisi/core"
import { DiskAccounts } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as ConfigFile from "../config/ConfigFile.ts"
import { type Failure, failed } from "../invocation/Failure.ts"
import * as Database from "../stores/Database.ts"
import type { KeyStore } from "../stores/KeyStore.ts"
import type { ListInput } from "./flags.ts"
import * as KeyFile from "./KeyFile.ts"

/** The key store and the account store. Accounts are opened on first use. */
export interface KeyPlace {
  readonly keys: KeyStore
  readonly accounts: Effect.Effect<Account.Accounts, Failure>
}

/** Opens the stores selected by flags, environment and config, and closes them after use. */
export const within = <A>(
  input: Pick<ListInput, "config" | "database" | "keys">,
  use: (place: KeyPlace) => Effect.Effect<A, Failure>
): Effect.Effect<A, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const config = ConfigFile.resolve(Option.getOrUndefined(input.config))
      const database = yield* Database.open(
        input.database,
        Effect.map(config, (loaded) => loaded.config),
        { files: { keys: input.keys } }
      )
      const accounts = database?.accounts ?? Effect.mapError(DiskAccounts.make(), ({ message }) => failed(message))
      const keys = yield* database?.keys ?? Effect.flatMap(KeyFile.fileOf(input.keys), KeyFile.store)
      return yield* use({ keys, accounts: Scope.provide(accounts, scope) })
    })
  )
