/** Runs `divisi` as a process of its own, as a person would. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { closeSync, lstatSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { command } from "./command.ts"

const root = path.resolve(import.meta.dirname, "..")

export interface Ended {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

export interface Options {
  readonly input?: string | undefined
  readonly cwd?: string | undefined
  /** The command line; {@link command} by default. */
  readonly command?: ReadonlyArray<string> | undefined
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** The files that its output and its errors go to, instead of into what is returned. */
  readonly outputTo?: string | undefined
  readonly errorsTo?: string | undefined
  /** Called with the output so far, errors included, each time it grows. */
  readonly onOutput?: ((output: string, child: ChildProcessWithoutNullStreams) => void) | undefined
}

export const config = (name: string): string => path.join(root, "test/configs", `${name}.config.ts`)

/** Runs it to its end. Standard input is empty unless there is an input. */
export const divisi = (args: ReadonlyArray<string>, options: Options = {}): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const files = [options.outputTo, options.errorsTo].map((file) => file && openSync(file, "w"))
    const { CI: _, FORCE_COLOR: __, ...environment } = process.env
    const child = spawn(process.execPath, [...(options.command ?? command), ...args], {
      cwd: options.cwd ?? root,
      env: { ...environment, ...options.environment },
      stdio: ["pipe", files[0] || "pipe", files[1] || "pipe"]
    }) as ChildProcessWithoutNullStreams
    for (const file of files) if (typeof file === "number") closeSync(file)
    let output = ""
    let errors = ""
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text
      options.onOutput?.(output + errors, child)
    })
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      errors += text
      options.onOutput?.(output + errors, child)
    })
    child.stdin.on("error", () => {})
    child.on("error", reject).on("close", (code) => resolve({ code, output, errors }))
    child.stdin.end(options.input ?? "")
  })

/** The environment of a process in which packages are not installed. */
export const without = (...names: ReadonlyArray<string>) => {
  const source = `
    import { registerHooks } from "node:module"
    registerHooks({
      resolve: (specifier, context, next) => {
        const name = ${JSON.stringify(names)}.find((one) => specifier.startsWith(one))
        if (name === undefined) return next(specifier, context)
        const error = new Error("Cannot find package '" + name + "' imported from here")
        throw Object.assign(error, { code: "ERR_MODULE_NOT_FOUND" })
      }
    })`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` }
}

/** The values of an output of JSON, one to a line. */
export const valuesOf = (output: string) =>
  output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

/** A folder that is there for as long as it is used. */
export const inFolder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(path.join(tmpdir(), "divisi-"))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Paths of all files and folders below a folder, with their modes. */
export const modesIn = (folder: string): ReadonlyMap<string, number> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true }).map(({ name, parentPath }) => {
      const file = path.join(parentPath, name)
      return [path.relative(folder, file), lstatSync(file).mode & 0o777] as const
    })
  )

/** Those of {@link modesIn} that other users may access, with their modes in octal. */
export const openToOthers = (modes: ReadonlyMap<string, number>): ReadonlyArray<string> =>
  [...modes].filter(([, mode]) => (mode & 0o077) !== 0).map(([name, mode]) => `${name} ${mode.toString(8)}`)
