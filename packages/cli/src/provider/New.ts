/** `divisi provider new`: writes a provider that works and passes its tests, for its author to change step by step. */
import { randomUUID } from "node:crypto"
import fs from "node:fs/promises"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { type FileError, fromUnknown } from "@divisi/files/FileError"
import * as WholeFile from "@divisi/files/WholeFile"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import manifest from "../../package.json" with { type: "json" }
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import type { NewInput } from "./flags.ts"

/** Whether a package, a file and a function can be called so. */
export const isName = (name: string): boolean => /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) && name.length <= 60

/** `acme-models` as a function: `acmeModels`. */
const functionOf = (name: string): string =>
  name.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/**
 * A file of the template under another name. What the provider is called changes; what is said of the protocol that it
 * starts with stays, for it stays true until the author changes it.
 */
export const renamed = (text: string, name: string): string =>
  text
    .replaceAll("divisi-provider-ollama", `divisi-provider-${name}`)
    .replaceAll(/\bollama(?=\()/g, functionOf(name))
    .replaceAll(/(?<=\bexport const )ollama\b/g, functionOf(name))
    .replaceAll(/\bollama(?= \} from)/g, functionOf(name))
    .replaceAll(/(?<=[`"])ollama(?=[:"])/g, name)

interface ProviderManifest {
  readonly name: string
  readonly description: string
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** The manifest of the template for another name, and for this version of Divisi. */
export const manifestOf = (text: string, name: string, version: string): string => {
  const template = JSON.parse(text) as ProviderManifest
  const ranges = (dependencies: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(dependencies).map(([key, range]) => [key, key.startsWith("@divisi/") ? `^${version}` : range])
    )
  const own = {
    ...template,
    name: `divisi-provider-${name}`,
    description: `Models of ${name} as workers of Divisi.`,
    peerDependencies: ranges(template.peerDependencies),
    devDependencies: ranges(template.devDependencies)
  }
  return `${JSON.stringify(own, undefined, 2)}\n`
}

/** Where the build has put the template. */
const template = () =>
  fileURLToPath(new URL("dist/templates/provider", import.meta.resolve("@divisi/cli/package.json")))

/**
 * What the manifest is called in the template: a `package.json` inside of a package would be taken for one of its own.
 */
const storedManifest = "package.json.template"

/** Whose licence it is, is for its author to say. */
const isOurs = (file: string) => file === "LICENSE"

/** Writes a provider into a folder, file by file; the paths of the files. */
export const write = async (options: {
  readonly name: string
  readonly from: string
  readonly to: string
  readonly version: string
}): Promise<ReadonlyArray<string>> => {
  const { from, name, to, version } = options
  const entries = await fs.readdir(from, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(from, path.join(entry.parentPath, entry.name)))
    .filter((file) => !isOurs(file))
    .sort()
  const written: Array<string> = []
  for (const file of files) {
    const text = await fs.readFile(path.join(from, file), "utf8")
    const target = file === storedManifest ? "package.json" : file
    await fs.mkdir(path.dirname(path.join(to, target)), { recursive: true })
    const own = target === "package.json" ? manifestOf(text, name, version) : renamed(text, name)
    await fs.writeFile(path.join(to, target), own, { flag: "wx" })
    written.push(target)
  }
  await fs.writeFile(path.join(to, ".gitignore"), "dist\nnode_modules\n", { flag: "wx" })
  return [...written, ".gitignore"]
}

const isOccupied = async (folder: string): Promise<boolean> => {
  try {
    return (await fs.readdir(folder)).length > 0
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT"
  }
}

const attempt = <A>(folder: string, action: () => Promise<A>): Effect.Effect<A, FileError> =>
  Effect.tryPromise({ try: action, catch: fromUnknown(folder, "written") })

/** Writes it under another name first: the folder is there whole or not at all, and a second try finds no half of one. */
const writeWhole = Effect.fnUntraced(function* (name: string, to: string) {
  const partial = `${to}.${randomUUID()}.partial`
  const remove = () => fs.rm(partial, { recursive: true, force: true })
  const options = { name, from: template(), to: partial, version: manifest.version }
  return yield* attempt(to, () => write(options)).pipe(
    Effect.tap(() => WholeFile.publishFolder(partial, to)),
    Effect.onError(() => Effect.promise(() => remove().catch(() => undefined)))
  )
})

/** Writes a provider into a folder that is new or empty, and says how to go on. */
export const create = Effect.fnUntraced(function* (input: NewInput): Effect.fn.Return<void, Failure> {
  const { name } = input
  if (!isName(name)) {
    return yield* usage(`"${name}" cannot name a package: use small letters, digits and hyphens, such as acme-models.`)
  }
  const folder = Option.getOrElse(input.directory, () => `divisi-provider-${name}`)
  const to = path.resolve(folder)
  if (yield* Effect.promise(() => isOccupied(to))) {
    return yield* failed(`${folder} is there already, and not an empty folder: name another one with --directory.`)
  }
  const files = yield* Effect.mapError(writeWhole(name, to), ({ message }) => failed(message))
  yield* Effect.sync(() =>
    process.stdout.write(
      [
        `Wrote ${files.length} files to ${folder}:`,
        ...files.map((file) => `  ${file}`),
        "",
        "It speaks one real protocol and passes the contract of providers as it is:",
        `  cd ${folder} && npm install && npm test`,
        "README.md says which file to change for what.",
        ""
      ].join("\n")
    )
  )
})
