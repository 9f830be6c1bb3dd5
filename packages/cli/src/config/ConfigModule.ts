/**
 * Imports a config with Node's built-in type stripping. Each failure is reported as a message with the file name.
 *
 * Node treats `.ts` and `.js` files as CommonJS if the nearest package.json declares it (the default of `npm init -y`), and
 * then fails on the first `import`. Therefore a config, or a file it imports, that does not compile as CommonJS is
 * loaded as a module; packages are not affected. A config loaded as a module can import Divisi packages even if the
 * command line is installed elsewhere, globally or in a clone.
 *
 * A module is loaded once per process. To reload a config, a version is appended to its URL and to the URLs of its
 * relative imports; packages stay loaded.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import nodeModule from "node:module"
import path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { compileFunction } from "node:vm"
import { TextEncoding } from "@divisi/files"
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

/**
 * Returns the module in a UTF-16 file, as PowerShell 5 writes it, or `undefined` for any other file. Node reads only
 * UTF-8.
 */
const inUtf16 = (url: string): ReturnType<nodeModule.LoadHookSync> | undefined => {
  const file = url.startsWith("file:") && !isOfPackage(url) ? fileURLToPath(url) : undefined
  if (file === undefined || !/\.[cm]?[jt]s$/.test(file)) return undefined
  const bytes = readFileSync(file)
  if (TextEncoding.detect(bytes) === "utf-8") return undefined
  const source = TextEncoding.decode(bytes)
  const isTypeScript = file.endsWith("ts")
  const format = compiles(source, isTypeScript) ? "commonjs" : "module"
  return { format: isTypeScript ? `${format}-typescript` : format, source, shortCircuit: true }
}

const load: nodeModule.LoadHookSync = (url, context, next) => {
  const loaded = inUtf16(url) ?? next(url, context)
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

/**
 * Files that compile as CommonJS are left to Node. With hooks installed, Node 22 cannot `require` modules that import
 * other modules.
 */
const isCommonJs = (file: string): boolean => {
  if (!existsSync(file)) return false
  const bytes = readFileSync(file)
  return TextEncoding.detect(bytes) === "utf-8" && compiles(TextEncoding.decode(bytes), file.endsWith("ts"))
}

/**
 * Installs the hooks for the lifetime of the process, because a recipe may import a file when it is called. Not needed
 * on runtimes with native TypeScript support.
 */
const installHooks = (): void => {
  if (!areHooksThere) nodeModule.registerHooks?.({ load, resolve })
  areHooksThere = true
}

/** Imports a module and suppresses Node's type stripping warning, which is not actionable for users. */
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

/** Extracts the `file:line` at the top of the stack for some syntax errors, and of the output from `node --check`. */
const placeIn = (text: string | undefined): string | undefined => {
  const found = /^(.+):(\d+)$/.exec(text?.split("\n", 1)[0]?.trim() ?? "")
  if (found === null) return undefined
  const file = found[1]!.startsWith("file:") ? fileURLToPath(found[1]!) : found[1]!
  return `${shownAs(file)}, line ${found[2]}`
}

/**
 * Returns the position of a syntax error in the config or in an import. Falls back to `node --check`, since errors in
 * imported modules do not always include a position.
 */
const placeOf = (error: Error, file: string): string => {
  const check = () => spawnSync(process.execPath, ["--check", file], { encoding: "utf8", timeout: 5_000 }).stderr
  return placeIn(error.stack) ?? placeIn(check()) ?? `${shownAs(file)} or one of its imports`
}

/** Suggests a fix for a missing import. Node requires file extensions; TypeScript does not. */
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

/** Formats an import failure for display. */
const explain = (error: unknown, file: string): string => {
  const shown = shownAs(file)
  if (error instanceof SyntaxError)
    return `Syntax error in ${placeOf(error, file).replace(/,$/, "")}: ${firstLine(messageOf(error))}.`
  if (isMissing(error) || codeOf(error) === "ERR_PACKAGE_PATH_NOT_EXPORTED") {
    return `${shown} imports a module that does not exist: ${firstLine(messageOf(error))}. ${remedyOf(error)}`
  }
  const line = lineIn(error, file)
  return `${shown} threw an error${line === undefined ? "" : ` on line ${line}`} while it was being loaded: ${messageOf(error)}`
}

// -------------------------------------------------------------------------------------------------------------------
// Importing
// -------------------------------------------------------------------------------------------------------------------

/** Whether the fields of a value can be read. Also true for arrays. */
export const hasFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/**
 * Returns the default export, including from modules compiled to CommonJS. Returns `undefined` if there is no default
 * export.
 */
const exportOf = (module: Readonly<Record<string, unknown>>): unknown => {
  const { default: exported, "module.exports": whole = exported } = module
  if (exported !== whole || !hasFields(exported)) return exported
  if (exported.__esModule === true) return exported.default
  // A file without exports is treated as CommonJS and exports an empty object.
  return Object.keys(exported).length === 0 && "module.exports" in module ? undefined : exported
}

/** Clears the CommonJS module cache, which ignores URL query strings. */
const forgetCommonJs = (): void => {
  const { cache } = nodeModule.createRequire(import.meta.url)
  for (const file of Object.keys(cache)) if (!isOfPackage(file)) delete cache[file]
}

/** Options for importing a module. */
export interface Reading {
  /** Change this number to reload the file. */
  readonly version?: number | undefined
  /** The expected default export, as code for the error message. Defaults to a config. */
  readonly wanted?: string | undefined
}

/** Imports a file and returns its default export. */
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
      ? yield* usage(`${shownAs(file)} has no default export. Add \`${wanted}\`.`)
      : exported
  })
