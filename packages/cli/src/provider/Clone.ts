/** The clone of Divisi that this command line stands in, where it does: what it writes then works before a release. */
import { existsSync, realpathSync } from "node:fs"
import path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

/** What `scripts/setup/pack.mjs` of a clone gives. */
interface Packing {
  readonly pack: (names: ReadonlyArray<string>, to: string) => Promise<Readonly<Record<string, string>>>
}

/** The script that packs a clone's packages; `undefined` for a command line that was installed. */
const script = (): string | undefined => {
  const own = path.dirname(realpathSync(fileURLToPath(import.meta.resolve("@divisi/cli/package.json"))))
  const file = path.resolve(own, "../../scripts/setup/pack.mjs")
  return existsSync(file) ? file : undefined
}

/** Whether there is one. */
export const isThere = (): boolean => script() !== undefined

/** Packs packages of the clone, and what they need of it, into a folder; the names of the files by the packages' names. */
export const pack = async (names: ReadonlyArray<string>, to: string): Promise<Readonly<Record<string, string>>> => {
  const packing: Packing = await import(pathToFileURL(script()!).href)
  return packing.pack(names, to)
}
