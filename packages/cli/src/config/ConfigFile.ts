/**
 * Finds, loads and checks the config. Every problem is reported as one message that names the file, and the field if
 * there is one.
 *
 * A config is code that runs with all rights of its user, so the search for an unnamed one is limited to the user's own
 * folders.
 */
import { existsSync, readdirSync, statSync } from "node:fs"
import { homedir } from "node:os"
import path from "node:path"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Config } from "../config.ts"
import { type Failure, usage } from "../invocation/Failure.ts"
import * as ConfigModule from "./ConfigModule.ts"

/** The config file names, in order of precedence. */
export const names = ["ts", "mts", "js", "mjs", "cts", "cjs"].map((ending) => `divisi.config.${ending}`)

/** A config with its file, or with `undefined` if there is no file. */
export interface Loaded {
  readonly config: Config
  readonly file: string | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Finding
// -------------------------------------------------------------------------------------------------------------------

/** Names of files that may be mistaken for a config. */
const lookalike = /^divisi\.config\.(?:[cm]?[jt]sx?|json[c5]?|ya?ml|toml)$/

const entriesOf = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Returns the configs of a folder, the effective one first; unreadable ones last. */
const within = (folder: string): ReadonlyArray<string> => {
  const entries = entriesOf(folder)
  const others = entries.filter((name) => lookalike.test(name) && !names.includes(name))
  return [...names.filter((name) => entries.includes(name)), ...others].map((name) => path.join(folder, name))
}

/**
 * Returns the configs of a folder, or of the nearest parent that has any. The search ends at the root of the repository
 * or at the home folder.
 */
export const find = (folder: string): ReadonlyArray<string> => {
  const found = within(folder)
  const above = path.dirname(folder)
  const isLast = above === folder || folder === homedir() || existsSync(path.join(folder, ".git"))
  return found.length > 0 || isLast ? found : find(above)
}

/** Whether a file belongs neither to this user nor to the system. */
const isOfAnother = (file: string): boolean => {
  const user = process.getuid?.()
  return user !== undefined && ![0, user].includes(statSync(file).uid)
}

// -------------------------------------------------------------------------------------------------------------------
// Loading
// -------------------------------------------------------------------------------------------------------------------

const load = (file: string, version: number): Effect.Effect<Loaded, Failure> => {
  const shown = ConfigModule.shownAs(file)
  if (!/\.[cm]?[jt]s$/.test(file)) {
    return Effect.fail(usage(`${shown} is not a config. A config is a module, such as ${names[0]}.`))
  }
  return Effect.gen(function* () {
    const exported = yield* ConfigModule.read(file, { version })
    // Without a config nothing is checked, so its schema is not loaded.
    const ConfigSchema = yield* Effect.promise(() => import("./ConfigSchema.ts"))
    const checked = ConfigSchema.check(exported)
    return Result.isFailure(checked)
      ? yield* usage(`${shown}: ${checked.failure}.`)
      : { config: checked.success, file: shown }
  })
}

/** Loads the named file. */
const named = (given: string, version: number): Effect.Effect<Loaded, Failure> => {
  const file = path.resolve(given)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return Effect.fail(usage(`There is no config file ${given}.`))
  if (found.isDirectory()) return Effect.fail(usage(`${given} is a folder. Name the config file in it.`))
  return load(file, version)
}

const tell = (text: string): void => void process.stderr.write(`divisi: ${text}\n`)

const nearest = (file: string, others: ReadonlyArray<string>, version: number): Effect.Effect<Loaded, Failure> => {
  const shown = ConfigModule.shownAs(file)
  if (isOfAnother(file)) {
    return Effect.fail(
      usage(`${shown} belongs to another user, so it is not run. Pass it with --config, or use --config none.`)
    )
  }
  // A config in the working folder is not reported.
  if (path.dirname(file) !== process.cwd()) tell(`the config is ${shown}`)
  if (others.length > 0) tell(`${shown} is the config; ignored: ${others.map(ConfigModule.shownAs).join(", ")}`)
  return load(file, version)
}

/** No config: all settings come from flags. */
const none: Loaded = { config: {}, file: undefined }

/**
 * Returns the given config file, or the nearest one from the working directory upwards. The name `none` disables the
 * config. A file is read once per `version`.
 */
export const resolve = (given: string | undefined, version = 0): Effect.Effect<Loaded, Failure> =>
  Effect.suspend(() => {
    if (given === "none") return Effect.succeed(none)
    if (given !== undefined && given !== "") return named(given, version)
    const [found, ...others] = find(process.cwd())
    return found === undefined ? Effect.succeed(none) : nearest(found, others, version)
  })
