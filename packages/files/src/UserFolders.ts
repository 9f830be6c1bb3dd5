/** Where files of this user belong that can be had again: models, tokenizers, data sets. */
import os from "node:os"
import path from "node:path"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as UserDirectories from "effect/persistence/UserDirectories"

const directories = UserDirectories.make()

/** Services and containers may run without `HOME`; the system knows the folder nevertheless. */
const withHome = () => {
  const home = os.homedir()
  return ConfigProvider.fromEnvRecord({ HOME: home, USERPROFILE: home })
}

const own: Effect.Effect<string> = directories.cache("divisi").pipe(
  Effect.catch(() => Effect.provideService(directories.cache("divisi"), ConfigProvider.ConfigProvider, withHome())),
  Effect.orDie
)

/**
 * A folder for copies of one kind, e.g. `models`. It need not be there.
 *
 * **Details**
 *
 * What the environment variable `variable` names, or else `divisi/<kind>` in the cache folder of this user: an absolute
 * `XDG_CACHE_HOME`, `~/.cache` on Linux, `~/Library/Caches` on macOS, `%LOCALAPPDATA%\divisi\Cache` on Windows.
 *
 * **Example**
 *
 * ```ts
 * import * as UserFolders from "@divisi/files/UserFolders"
 * import * as ConfigProvider from "effect/ConfigProvider"
 * import * as Effect from "effect/Effect"
 *
 * const environment = ConfigProvider.layer(ConfigProvider.fromUnknown({ XDG_CACHE_HOME: "/var/cache" }))
 * const folder = UserFolders.cache("models", "DIVISI_MODELS")
 * await Effect.runPromise(Effect.provide(folder, environment)) // => "/var/cache/divisi/models"
 * ```
 */
export const cache = (kind: string, variable: string): Effect.Effect<string> =>
  Effect.gen(function* () {
    const named = yield* Effect.orDie(Config.String(variable).pipe(Config.withDefault("")))
    return named === "" ? path.join(yield* own, kind) : path.resolve(named)
  })
