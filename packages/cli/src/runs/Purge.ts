/** `divisi runs purge`: deletes all stored content older than a retention period. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ConfigFile from "../config/ConfigFile.ts"
import { type Failure, usage } from "../invocation/Failure.ts"
import { stdout } from "../invocation/Output.ts"
import * as Database from "../stores/Database.ts"
import * as Retention from "../stores/Retention.ts"
import * as Services from "../stores/Services.ts"
import { oneLine } from "../view/Line.ts"
import { table, toLeft } from "../view/Table.ts"
import type { PurgeInput } from "./flags.ts"

const print = (text: string): void => void stdout.write(`${text}\n`)

/** Deletes the content, or only counts it with `--dry-run`. */
export const purge = (input: PurgeInput): Effect.Effect<void, Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { dryRun, journal } = input
      const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
      const keepMillis = Retention.periodOf(input.keep, config)
      if (keepMillis === undefined)
        return yield* usage("No retention period is set. Pass --keep, e.g. --keep 30d, or set retention in the config.")
      const database = yield* Database.open(input.database, Effect.succeed(config), { files: { journal } })
      const { cache } = Services.of(config, input)
      const stores = yield* Retention.storesOf({ database, files: { journal }, cache })
      const purged = yield* Retention.purge(stores, keepMillis, dryRun)
      if (!dryRun) yield* database?.vacuum ?? Effect.void
      if (input.json) return print(JSON.stringify({ keepMillis, dryRun, stores: purged }))
      const rows = purged.map(({ bytes, entries, place, store }) => [store, `${entries}`, `${bytes}`, oneLine(place)])
      print(table([["store", dryRun ? "would be removed" : "removed", "bytes", "place"], ...rows], toLeft))
    })
  )
