/**
 * Imports a config with Node alone: it strips the types of TypeScript itself. Every failure is one message that names
 * the file.
 *
 * Node treats a `.ts` or `.js` file as CommonJS if the nearest package.json sets it, such as the one of `npm init -y`,
 * and then fails on its first `import`. So a file that does not compile as CommonJS is loaded as a module, in the
 * config and in its imports; packages are unchanged. A config that is a module can import our packages also if the
 * command line is installed elsewhere, globally or in a clone.
 *
 * A module is loaded once per process. To reload a config, its URL gets a version, and so do its imports by path;
 * packages remain loaded.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import nodeModule from "node:module"
import path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { compileFunction } from "node:vm"
import * as Effect from "effect/Effect"
import { type Failure, messageOf, usage } from "../invocation/Failure.ts"

/** Formats a file path for messages. */
export const shownAs = (file: string): string => path.relative(process.cwd(), file) || file

// -------------------------------------------------------------------------------------------------------------------
// Hooks
// -------------------------------------------------------------------------------------------------------------------

const compiles = (source: string, isTypeScript: boolean): boolean => {
  try {
    const script = isTypeScript ? nodeModule.stripTypeScriptTypes(source) : source
    compileFunction(script, ["exports", "require", "module", "__filename", "__dirname"])
    return true
  } catch {
    return false
  }
}

const isOfPackage = (url: string): boolean => url.includes("/node_modules/")

const load: nodeModule.LoadHookSync = (url, context, next) => {
  const loaded = next(url, context)
  const { format, source } = loaded
  if (format?.startsWith("commonjs") !== true || source == null || isOfPackage(url)) return loaded
  const isTypeScript = format === "commonjs-typescript"
  const text = typeof source === "string" ? source : new TextDecoder().decode(source)
  if (compiles(text, isTypeScript)) return loaded
  return next(url, { ...context, format: isTypeScript ? "module-typescript" : "module" })
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown } | null)?.code

const isMissing = (error: unknown): boolean =>
  codeOf(error) === "ERR_MODULE_NOT_FOUND" || codeOf(error) === "MODULE_NOT_FOUND"

const versionIn = (url: string | undefined): string | undefined => /\?divisi=\d+$/.exec(url ?? "")?.[0]

const resolve: nodeModule.ResolveHookSync = (specifier, context, next) => {
  try {
    const resolved = next(specifier, context)
    const version = versionIn(context.parentURL)
    const isOwn = /^(?:\.|\/|file:)/.test(specifier) && resolved.url.startsWith("file:") && !isOfPackage(resolved.url)
    return version === undefined || !isOwn ? resolved : { ...resolved, url: `${resolved.url}${version}` }
  } catch (error) {
    if (!specifier.startsWith("@divisi/") || !isMissing(error)) throw error
    try {
      return next(specifier, { ...context, parentURL: import.meta.url })
    } catch {
      throw error
    }
  }
}

let areHooksThere = false

/** Node does its own with such a file. Under hooks, Node 22 cannot `require` modules that import others. */
const isCommonJs = (file: string): boolean => existsSync(file) && compiles(readFileSync(file, "utf8"), /ts$/.test(file))

/**
 * Installs the hooks for the rest of the process, because a recipe may import a file when it is called. Runtimes with
 * native TypeScript support do not need hooks.
 */
const installHooks = (): void => {
  if (!areHooksThere) nodeModule.registerHooks?.({ load, resolve })
  areHooksThere = true
}

/** Imports a module without Node's warning about type stripping, which users cannot act on. */
const quietly = async <A>(importing: () => Promise<A>): Promise<A> => {
  const { emitWarning } = process
  process.emitWarning = ((warning: string | Error, ...rest: Array<never>) => {
    const text = typeof warning === "string" ? warning : warning.message
    if (!/type stripping|module type|stripTypeScriptTypes|ES module/i.test(text))
      emitWarning.call(process, warning, ...rest)
  }) as typeof emitWarning
  try {
    return await importing()
  } finally {
    process.emitWarning = emitWarning
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

const firstLine = (text: string): string => text.split("\n", 1)[0]!.replace(/\.$/, "")

/** Returns the `file:line` above the stack of some syntax errors, and above the output of `node --check`. */
const placeIn = (text: string | undefined): string | undefined => {
  const found = /^(.+):(\d+)$/.exec(text?.split("\n", 1)[0]?.trim() ?? "")
  if (found === null) return undefined
  const file = found[1]!.startsWith("file:") ? fileURLToPath(found[1]!) : found[1]!
  return `${shownAs(file)}, line ${found[2]},`
}

/**
 * Returns the position of a syntax error: in the config, or in an import. An imported module does not always report it.
 */
const placeOf = (error: Error, file: string): string => {
  const check = () => spawnSync(process.execPath, ["--check", file], { encoding: "utf8", timeout: 5_000 }).stderr
  return placeIn(error.stack) ?? placeIn(check()) ?? `${shownAs(file)} or one of its imports`
}

/** Returns the remedy for a missing import. Node requires the extension of a file; TypeScript does not. */
const remedyOf = (error: unknown): string => {
  const missing = /^Cannot find module '([^']+)'/.exec(messageOf(error))?.[1]
  return missing !== undefined && path.isAbsolute(missing) && !/\.[cm]?[jt]sx?$/.test(missing)
    ? `Include the file extension: ${path.basename(missing)}.ts.`
    : "Install it, or correct the import."
}

/** Returns the line of the file at which an error was thrown. */
const lineIn = (error: unknown, file: string): string | undefined => {
  const frame =
    error instanceof Error ? error.stack?.split("\n").find((line) => line.includes(path.basename(file))) : undefined
  return /:(\d+):\d+\)?$/.exec(frame ?? "")?.[1]
}

/** Explains an import failure of a config, for display. */
const explain = (error: unknown, file: string): string => {
  const shown = shownAs(file)
  if (error instanceof SyntaxError) return `${placeOf(error, file)} is not valid: ${firstLine(messageOf(error))}.`
  if (isMissing(error) || codeOf(error) === "ERR_PACKAGE_PATH_NOT_EXPORTED") {
    return `${shown} imports a module that does not exist: ${firstLine(messageOf(error))}. ${remedyOf(error)}`
  }
  const line = lineIn(error, file)
  return `${shown}${line === undefined ? "" : `, line ${line},`} threw an error while it was loaded: ${messageOf(error)}`
}

// -------------------------------------------------------------------------------------------------------------------
// Importing
// -------------------------------------------------------------------------------------------------------------------

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/**
 * Returns the default export, even of a module that was compiled to CommonJS; `undefined` if there is no default
 * export.
 */
const exportOf = (module: Readonly<Record<string, unknown>>): unknown => {
  const { default: exported, "module.exports": whole = exported } = module
  if (exported !== whole || !isRecord(exported)) return exported
  if (exported.__esModule === true) return exported.default
  // A file without any export is taken for CommonJS, with an empty object as what it exports.
  return Object.keys(exported).length === 0 && "module.exports" in module ? undefined : exported
}

/** Clears the cache of CommonJS modules, which ignores the query of a URL. */
const forgetCommonJs = (): void => {
  const { cache } = nodeModule.createRequire(import.meta.url)
  for (const file of Object.keys(cache)) if (!isOfPackage(file)) delete cache[file]
}

/** Options for reading a module. */
export interface Reading {
  /** If it differs from the previous one, the file is reloaded. */
  readonly version?: number | undefined
  /** The expected default export, as code for the error message. Default: a config. */
  readonly wanted?: string | undefined
}

/** Returns the default export of the file. */
export const read = (
  file: string,
  { version = 0, wanted = "export default defineConfig({ … })" }: Reading = {}
): Effect.Effect<unknown, Failure> =>
  Effect.gen(function* () {
    const module = yield* Effect.tryPromise({
      try: () =>
        quietly(() => {
          if (!isCommonJs(file)) installHooks()
          if (version > 0) forgetCommonJs()
          const url = `${pathToFileURL(file).href}${version > 0 ? `?divisi=${version}` : ""}`
          return import(url) as Promise<Readonly<Record<string, unknown>>>
        }),
      catch: (error) => usage(explain(error, file))
    })
    const exported = exportOf(module)
    return exported === undefined
      ? yield* usage(`${shownAs(file)} has no default export: write \`${wanted}\`.`)
      : exported
  })
