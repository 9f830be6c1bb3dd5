/**
 * Finds, loads and validates the config. Each problem is reported as a message with the file name and, if applicable,
 * the field.
 *
 * A config is code that runs with the user's permissions, so the search for a config is limited to the user's own
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

/**
 * Supported config file names, in order of precedence.
 *
 * @internal
 */
export const names = ["ts", "mts", "js", "mjs", "cts", "cjs"].map((ending) => `divisi.config.${ending}`)

/** A config and its file. `file` is `undefined` if there is no config file. */
export interface Loaded {
  readonly config: Config
  readonly file: string | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Finding
// -------------------------------------------------------------------------------------------------------------------

/** Matches file names that look like a config but are not supported. */
const lookalike = /^divisi\.config\.(?:[cm]?[jt]sx?|json[c5]?|ya?ml|toml)$/

const entriesOf = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Returns the config files in a folder: the one that is used comes first, unsupported ones last. */
const within = (folder: string): ReadonlyArray<string> => {
  const entries = entriesOf(folder)
  const others = entries.filter((name) => lookalike.test(name) && !names.includes(name))
  return [...names.filter((name) => entries.includes(name)), ...others].map((name) => path.join(folder, name))
}

/** Returns the home folder. `undefined` for a user that the system does not know, as in some containers. */
const home = (): string | undefined => {
  try {
    return homedir()
  } catch {
    return undefined
  }
}

/**
 * Returns the config files in a folder, or in the nearest parent that has any. The search stops at the repository root
 * or at the home folder.
 *
 * @internal
 */
export const find = (folder: string): ReadonlyArray<string> => {
  const found = within(folder)
  const above = path.dirname(folder)
  const isLast = above === folder || folder === home() || existsSync(path.join(folder, ".git"))
  return found.length > 0 || isLast ? found : find(above)
}

/** Whether a file is owned by neither this user nor root. */
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
    return Effect.fail(usage(`${shown} is not a config file. Use a module such as ${names[0]}.`))
  }
  return Effect.gen(function* () {
    const exported = yield* ConfigModule.read(file, { version })
    // Loads the schema only if there is a config to validate.
    const ConfigSchema = yield* Effect.promise(() => import("./ConfigSchema.ts"))
    const checked = ConfigSchema.check(exported)
    return Result.isFailure(checked)
      ? yield* usage(`${shown}: ${checked.failure}.`)
      : { config: checked.success, file: shown }
  })
}

/** Loads the config with the given file name. */
const named = (given: string, version: number): Effect.Effect<Loaded, Failure> => {
  const file = path.resolve(given)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return Effect.fail(usage(`Config file ${given} does not exist.`))
  if (found.isDirectory()) return Effect.fail(usage(`${given} is a folder. Pass the path of the config file in it.`))
  return load(file, version)
}

const tell = (text: string): void => void process.stderr.write(`divisi: ${text}\n`)

const nearest = (file: string, others: ReadonlyArray<string>, version: number): Effect.Effect<Loaded, Failure> => {
  const shown = ConfigModule.shownAs(file)
  if (isOfAnother(file)) {
    return Effect.fail(
      usage(
        `${shown} belongs to another user, so it was not loaded. To use it, pass it with --config. To ignore it, pass --config none.`
      )
    )
  }
  // A config in the working directory is expected, so it is not mentioned.
  if (path.dirname(file) !== process.cwd()) tell(`using config ${shown}`)
  if (others.length > 0) tell(`using config ${shown}; ignoring ${others.map(ConfigModule.shownAs).join(", ")}`)
  return load(file, version)
}

/** No config: all settings come from flags. */
const none: Loaded = { config: {}, file: undefined }

/**
 * Returns the config's file for display: the given one, or the nearest one.
 *
 * @internal
 */
export const shown = (given: string | undefined): string =>
  given || ConfigModule.shownAs(find(process.cwd())[0] ?? "the config")

/**
 * Returns the config from the given file, or from the nearest one found upwards from the working directory. `none`
 * disables the config. Files are read once per `version`.
 */
export const resolve = (given: string | undefined, version = 0): Effect.Effect<Loaded, Failure> =>
  Effect.suspend(() => {
    if (given === "none") return Effect.succeed(none)
    if (given !== undefined && given !== "") return named(given, version)
    const [found, ...others] = find(process.cwd())
    return found === undefined ? Effect.succeed(none) : nearest(found, others, version)
  })
