/**
 * Folders for this user's files: a cache folder for files that can be restored (models, tokenizers, data sets), and a
 * data folder for all others.
 */
import os from "node:os"
import path from "node:path"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as UserDirectories from "effect/persistence/UserDirectories"

const directories = UserDirectories.make()

/**
 * Asks the operating system for the home folder, because services and containers may run without `HOME`, or with an
 * empty one. A user that the system does not know has the root folder, as in Docker.
 */
const homeOfUser = (): string => {
  try {
    return process.env.HOME === "" ? os.userInfo().homedir : os.homedir()
  } catch {
    return path.parse(process.cwd()).root
  }
}

const withHome = () => {
  const home = homeOfUser()
  return ConfigProvider.fromEnvRecord({ HOME: home, USERPROFILE: home })
}

const own = (kind: "cache" | "data"): Effect.Effect<string> =>
  directories[kind]("divisi").pipe(
    Effect.catch(() => Effect.provideService(directories[kind]("divisi"), ConfigProvider.ConfigProvider, withHome())),
    Effect.orDie
  )

const variables = ["HOME", "USERPROFILE", "XDG_CACHE_HOME", "XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA"]

let known: { readonly of: string; readonly folders: ReadonlyArray<string> } | undefined

/**
 * Returns the user's folders that only Divisi uses, according to the environment of this process.
 *
 * @internal
 */
export const ownFoldersNow = (): ReadonlyArray<string> => {
  const of = JSON.stringify(variables.map((name) => process.env[name]))
  if (known?.of !== of) {
    const environment = ConfigProvider.fromEnvRecord({ ...process.env })
    const both = Effect.provideService(
      Effect.all([own("data"), own("cache")]),
      ConfigProvider.ConfigProvider,
      environment
    )
    known = { of, folders: Effect.runSync(both) }
  }
  return known.folders
}

/** Returns the path in an environment variable, or a path in one of the user's folders. */
const place = (folder: "cache" | "data", name: string, variable: string): Effect.Effect<string> =>
  Effect.gen(function* () {
    const named = yield* Effect.orDie(Config.String(variable).pipe(Config.withDefault("")))
    return named === "" ? path.join(yield* own(folder), name) : path.resolve(named)
  })

/**
 * Returns the cache folder for one kind of file, such as `models`. It may not exist.
 *
 * **Details**
 *
 * The result is the path in the environment variable `variable`, or else `divisi/<kind>` in the cache folder of this
 * user: an absolute `XDG_CACHE_HOME`, `~/.cache` on Linux, `~/Library/Caches` on macOS, `%LOCALAPPDATA%\divisi\Cache`
 * on Windows.
 *
 * **Example**
 *
 * ```ts
 * import { UserFolders } from "@divisi/files"
 * import * as ConfigProvider from "effect/ConfigProvider"
 * import * as Effect from "effect/Effect"
 *
 * const environment = ConfigProvider.layer(ConfigProvider.fromUnknown({ XDG_CACHE_HOME: "/var/cache" }))
 * const folder = UserFolders.cache("models", "DIVISI_MODELS")
 * await Effect.runPromise(Effect.provide(folder, environment)) // => "/var/cache/divisi/models"
 * ```
 */
export const cache = (kind: string, variable: string): Effect.Effect<string> => place("cache", kind, variable)

/**
 * Returns the path of a data file, such as `runs.sqlite`. It may not exist.
 *
 * **Details**
 *
 * The result is the path in the environment variable `variable`, or else `divisi/<name>` in the data folder of this
 * user: an absolute `XDG_DATA_HOME`, `~/.local/share` on Linux, `~/Library/Application Support` on macOS, `%APPDATA%`
 * on Windows.
 */
export const dataFile = (name: string, variable: string): Effect.Effect<string> => place("data", name, variable)
