/** Opens the cluster's database. */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as ConfigFile from "../config/ConfigFile.ts"
import { type Failure, usage } from "../invocation/Failure.ts"
import { explain } from "../invocation/OptionalPackage.ts"
import * as Database from "../stores/Database.ts"

/** The flags that select the database. */
export interface Input {
  readonly database: Option.Option<Redacted.Redacted>
  readonly config: Option.Option<string>
  readonly versionGroup: Option.Option<string>
}

const missing = usage("No database is set. Set one with --database, DIVISI_DATABASE, or serve.database in the config.")

/** Opens the database. An unreachable one fails at once, so that a status is not delayed. */
export const open = Effect.fnUntraced(function* ({ config, database }: Input) {
  const resolved = Effect.map(ConfigFile.resolve(Option.getOrUndefined(config)), (loaded) => loaded.config)
  const opened = yield* Database.open(database, resolved)
  return opened === undefined ? yield* missing : opened.cluster
})

const environment = (name: string) =>
  Effect.orElseSucceed(Effect.map(Config.option(Config.Redacted(name)), Option.getOrUndefined), () => undefined)

/** Loads the `ClusterRuns` module, and resolves the database address. */
export const runs = Effect.fnUntraced(function* ({ config, database, versionGroup }: Input): Effect.fn.Return<
  {
    readonly ClusterRuns: typeof import("@divisi/cluster/runs").ClusterRuns
    readonly url: Redacted.Redacted
    readonly password: Redacted.Redacted | undefined
    readonly versionGroup: string | undefined
  },
  Failure
> {
  const named = Option.getOrUndefined(database) ?? (yield* environment("DIVISI_DATABASE"))
  const url = named ?? Database.configured((yield* ConfigFile.resolve(Option.getOrUndefined(config))).config)
  if (url === undefined) return yield* missing
  const { ClusterRuns } = yield* Effect.tryPromise({
    try: () => import("@divisi/cluster/runs"),
    catch: (error) => usage(`Cannot use the cluster. ${explain(error)}`)
  })
  return {
    ClusterRuns,
    url,
    password: yield* environment("PGPASSWORD"),
    versionGroup: Option.getOrUndefined(versionGroup)
  }
})
