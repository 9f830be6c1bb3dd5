/**
 * The clone of the Divisi repository that contains this command line, if any. It allows generated projects to work
 * before a release.
 */
import { existsSync, realpathSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import * as ProcessGroup from "@divisi/files/ProcessGroup"
import { quotedPath } from "./Hint.ts"

/**
 * Returns the script that packs a clone's packages, or `undefined` if the command line was installed from a registry.
 */
const script = (): string | undefined => {
  const own = path.dirname(realpathSync(fileURLToPath(import.meta.resolve("@divisi/cli/package.json"))))
  const file = path.resolve(own, "../../scripts/setup/pack.mjs")
  return existsSync(file) ? file : undefined
}

/** Whether this command line runs from a clone. */
export const isThere = (): boolean => script() !== undefined

/**
 * Returns the program to run user scripts with, relative to a folder: `node`, or the Node installation inside the clone
 * if the user's Node is too old.
 */
export const nodeFor = (folder: string, program = process.execPath): string => {
  if (!/[/\\]\.divisi[/\\]node24[/\\]/.test(program)) return "node"
  return quotedPath(path.relative(folder, program))
}

/** Returns the words that run the command line from a folder: those of the clone, or `npx divisi` without one. */
export const commandFor = (folder: string, program = process.argv[1] ?? "divisi"): string =>
  isThere() ? `node ${quotedPath(path.relative(folder, program))}` : "npx divisi"

/** Packs packages from the clone, with their dependencies, into a folder. Returns file names by package name. */
export const pack = (names: ReadonlyArray<string>, to: string): Promise<Readonly<Record<string, string>>> =>
  new Promise((resolve, reject) => {
    const child = ProcessGroup.start([process.execPath, script()!, to, ...names], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    let output = ""
    child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      output += text
    })
    child.on("error", reject)
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(output))
      else reject(new Error("the clone cannot be built (see above)"))
    })
  })
