/** The clone of Divisi that contains this command line, if any: written projects then work before a release. */
import { existsSync, realpathSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import * as ProcessGroup from "@divisi/files/ProcessGroup"

/** The script that packs a clone's packages; `undefined` for a command line that was installed. */
const script = (): string | undefined => {
  const own = path.dirname(realpathSync(fileURLToPath(import.meta.resolve("@divisi/cli/package.json"))))
  const file = path.resolve(own, "../../scripts/setup/pack.mjs")
  return existsSync(file) ? file : undefined
}

/** Whether this command line belongs to a clone. */
export const isThere = (): boolean => script() !== undefined

/**
 * Returns the program that runs a user's scripts from a folder: `node`, or the path of the Node that a clone has
 * installed for itself because the user's own is too old.
 */
export const nodeFor = (folder: string, program = process.execPath): string => {
  if (!/[/\\]\.divisi[/\\]node24[/\\]/.test(program)) return "node"
  const relative = path.relative(folder, program)
  return /\s/.test(relative) ? `"${relative}"` : relative
}

/** Packs packages of the clone with their dependencies into a folder. Returns the file names by package name. */
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
