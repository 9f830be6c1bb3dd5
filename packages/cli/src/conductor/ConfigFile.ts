/**
 * Finds, loads and checks the config. Whatever is wrong with it is one message that names the file, and the field where
 * there is one. Of a text only its kind is shown: it may be a key.
 *
 * A config is code that runs with all that its user may do, so one that nobody has named is looked for within the
 * user's own things alone.
 */
import { spawnSync } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { homedir } from "node:os"
import path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as SchemaIssue from "effect/SchemaIssue"
import type { Config } from "../config.ts"
import { type Failure, messageOf, usage } from "../invocation/Failure.ts"
import { decode, isObject } from "./ConfigSchema.ts"

/** The names that are looked for, the first first. */
export const names = ["divisi.config.ts", "divisi.config.mjs", "divisi.config.js"] as const

/** A config with the file that it comes from; none when there is no file. */
export interface Loaded {
  readonly config: Config
  readonly file: string | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Finding
// -------------------------------------------------------------------------------------------------------------------

/**
 * The config file of a folder, or of the nearest folder above that has one, up to the repository or the home folder
 * that the folder is in.
 */
export const find = (folder: string): string | undefined => {
  const found = names.map((name) => path.join(folder, name)).find((file) => existsSync(file))
  const above = path.dirname(folder)
  const isLast = above === folder || folder === homedir() || existsSync(path.join(folder, ".git"))
  return found ?? (isLast ? undefined : find(above))
}

/** Whether a file is neither of this user nor of the system. */
const isOfAnother = (file: string): boolean => {
  const user = process.getuid?.()
  return user !== undefined && ![0, user].includes(statSync(file).uid)
}

// -------------------------------------------------------------------------------------------------------------------
// Checking
// -------------------------------------------------------------------------------------------------------------------

const at = (value: unknown, keys: ReadonlyArray<PropertyKey>): unknown =>
  keys.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value
  )

const kindOf = (value: unknown): string => {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? "an empty array" : "an array"
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return `${typeof value === "object" ? "an" : "a"} ${typeof value}`
}

const pathText = (keys: ReadonlyArray<PropertyKey>): string =>
  keys.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`),
    ""
  )

/** The words of the schema as people would say them. */
const sentence = (message: string) =>
  message
    .replace(/^Expected/, "expected")
    .replace(/ (number|boolean)$/, " a $1")
    .replace(/ (array|object)$/, " an $1")
    .replaceAll(" | ", " or ")

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The first thing that is wrong, with the path of its field. */
const explain = (config: unknown, issue: SchemaIssue.Issue): string => {
  const { message, path: segments = [] } = format(issue).issues[0]!
  const keys = segments.map((segment) => (typeof segment === "object" ? segment.key : segment))
  const field = keys.length === 0 ? "" : `${pathText(keys)}: `
  if (message === "Missing key") return `${field}is missing`
  if (message === "Expected no excess property") return `${field}is no setting of Divisi`
  return `${field}${sentence(message)}, got ${kindOf(at(config, keys))}`
}

/** Checks a config; the failure says what is wrong where. */
export const check = (config: unknown): Result.Result<Config, string> => {
  const decoded = decode(config)
  return Result.isSuccess(decoded)
    ? Result.succeed(config as Config)
    : Result.fail(explain(config, decoded.failure.issue))
}

// -------------------------------------------------------------------------------------------------------------------
// Loading
// -------------------------------------------------------------------------------------------------------------------

/** What an import gives; `module.exports` stands in it where the file is of the older kind. */
interface Module {
  readonly default?: unknown
  readonly "module.exports"?: unknown
}

/** Node announces type stripping on every use in some versions; that is our business, not the user's. */
const quietly = async <A>(load: () => Promise<A>): Promise<A> => {
  const { emitWarning } = process
  process.emitWarning = ((warning: string | Error, ...rest: Array<never>) => {
    const text = typeof warning === "string" ? warning : warning.message
    if (!/type stripping|module type/i.test(text)) emitWarning.call(process, warning, ...rest)
  }) as typeof emitWarning
  try {
    return await load()
  } finally {
    process.emitWarning = emitWarning
  }
}

const shownAs = (file: string): string => path.relative(process.cwd(), file) || file

const firstLine = (text: string): string => text.split("\n", 1)[0]!.replace(/\.$/, "")

/** The `file:line` that stands above the stack of some syntax errors, and above the output of `node --check`. */
const placeIn = (text: string | undefined): string | undefined => {
  const found = /^(.+):(\d+)$/.exec(text?.split("\n", 1)[0]?.trim() ?? "")
  if (found === null) return undefined
  const file = found[1]!.startsWith("file:") ? fileURLToPath(found[1]!) : found[1]!
  return `${shownAs(file)}, line ${found[2]},`
}

/** Where a syntax error stands: in the config, or in what it imports. An imported module does not always say. */
const placeOf = (error: Error, file: string): string => {
  const check = () => spawnSync(process.execPath, ["--check", file], { encoding: "utf8", timeout: 5_000 }).stderr
  return placeIn(error.stack) ?? placeIn(check()) ?? `${shownAs(file)}, or what it imports,`
}

/** What went wrong when a config was imported, for people. */
const explainImport = (error: unknown, file: string): string => {
  const code = (error as { readonly code?: unknown } | null)?.code
  const shown = shownAs(file)
  if (error instanceof SyntaxError) return `${placeOf(error, file)} is not valid: ${firstLine(messageOf(error))}.`
  if (code === "ERR_MODULE_NOT_FOUND" || code === "ERR_PACKAGE_PATH_NOT_EXPORTED") {
    return `${shown} imports something that is not there: ${firstLine(messageOf(error))}. Install it, or correct the import.`
  }
  return `${shown} threw an error while it was loaded: ${messageOf(error)}`
}

/** A file without any export is taken for one of the older kind, with an empty object as what it exports. */
const isUnexported = (module: Module): boolean =>
  module["module.exports"] === module.default && isObject(module.default) && Object.keys(module.default).length === 0

const load = (file: string): Effect.Effect<Loaded, Failure> =>
  Effect.gen(function* () {
    const shown = shownAs(file)
    const module = yield* Effect.tryPromise({
      try: () => quietly(() => import(pathToFileURL(file).href) as Promise<Module>),
      catch: (error) => usage(explainImport(error, file))
    })
    if (module.default === undefined || isUnexported(module)) {
      return yield* usage(`${shown} has no default export: write \`export default defineConfig({ … })\`.`)
    }
    const checked = check(module.default)
    return Result.isFailure(checked)
      ? yield* usage(`${shown}: ${checked.failure}.`)
      : { config: checked.success, file: shown }
  })

/** Loads the file that somebody has named. */
const named = (given: string): Effect.Effect<Loaded, Failure> => {
  const file = path.resolve(given)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return Effect.fail(usage(`There is no config file ${given}.`))
  if (found.isDirectory()) return Effect.fail(usage(`${given} is a folder: name the config file in it.`))
  return /\.[cm]?[jt]s$/.test(file)
    ? load(file)
    : Effect.fail(usage(`${given} is no config: a config is a module, such as ${names[0]}.`))
}

const nearest = (file: string): Effect.Effect<Loaded, Failure> => {
  const shown = shownAs(file)
  if (isOfAnother(file)) {
    return Effect.fail(
      usage(`${shown} belongs to another user, so it is not run. Name it with --config, or do without: --config none.`)
    )
  }
  // The one that stands here needs no mention.
  if (path.dirname(file) !== process.cwd()) process.stderr.write(`divisi: the config is ${shown}\n`)
  return load(file)
}

/** No config: the settings are those of the flags. */
const none: Loaded = { config: {}, file: undefined }

/**
 * The config file that is given, or else the nearest from the working folder upwards, or none; `none` is the name for
 * none at all.
 */
export const resolve = (given: string | undefined): Effect.Effect<Loaded, Failure> =>
  Effect.suspend(() => {
    if (given === "none") return Effect.succeed(none)
    if (given !== undefined && given !== "") return named(given)
    const found = find(process.cwd())
    return found === undefined ? Effect.succeed(none) : nearest(found)
  })
