/** `divisi provider new`: generates a working provider package with tests, as a starting point for its author. */
import { randomUUID } from "node:crypto"
import fs from "node:fs/promises"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { WholeFile } from "@divisi/files"
import { type FileError, fromUnknown } from "@divisi/files/FileError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import manifest from "../../package.json" with { type: "json" }
import * as Clone from "../invocation/Clone.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import { quotedPath } from "../invocation/Hint.ts"
import { stdout } from "../invocation/Output.ts"
import type { NewInput } from "./flags.ts"

/** Whether a name can be used for a package, a file and a function. */
export const isName = (name: string): boolean => /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) && name.length <= 60

/** Converts a package name to a function name: `acme-models` becomes `acmeModels`. */
const functionOf = (name: string): string =>
  name.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Renames the provider in a template file. Statements about the template's protocol are left unchanged, because they remain true
 * until the author changes it.
 */
export const renamed = (text: string, name: string): string =>
  text
    .replaceAll("divisi-provider-ollama", `divisi-provider-${name}`)
    .replaceAll(/\bollama(?=\()/g, functionOf(name))
    .replaceAll(/(?<=\bexport const )ollama\b/g, functionOf(name))
    .replaceAll(/\bollama(?= \} from)/g, functionOf(name))
    .replaceAll(/(?<=[`"])ollama(?=[:"])/g, name)
    .replace(describe("ollama"), describe(name))

type Ranges = Readonly<Record<string, string>>

interface ProviderManifest {
  readonly name: string
  readonly description: string
  readonly dependencies: Ranges
  readonly peerDependencies: Ranges
  readonly devDependencies: Ranges
}

const describe = (name: string): string => `Divisi workers for the models of ${name}.`

/** Subfolder for packages built from a clone. */
const packedFolder = "divisi-packages"

/**
 * Returns the template's package.json with a new name and version. Packages built from a clone are referenced as files.
 */
export const manifestOf = (text: string, name: string, version: string, packed: Ranges = {}): string => {
  const template = JSON.parse(text) as ProviderManifest
  const ranges = (dependencies: Ranges) =>
    Object.fromEntries(
      Object.entries(dependencies).map(([key, range]) => [key, key.startsWith("@divisi/") ? `^${version}` : range])
    )
  const files = Object.fromEntries(Object.entries(packed).map(([key, file]) => [key, `file:${packedFolder}/${file}`]))
  const dependencies = Object.keys(template.dependencies)
  const own = {
    ...template,
    name: `divisi-provider-${name}`,
    description: describe(name),
    dependencies: { ...ranges(template.dependencies), ...only(files, (key) => dependencies.includes(key)) },
    peerDependencies: ranges(template.peerDependencies),
    // A clone's packages depend on each other and are not published, so all of them are listed.
    devDependencies: { ...ranges(template.devDependencies), ...only(files, (key) => !dependencies.includes(key)) }
  }
  return `${JSON.stringify(own, undefined, 2)}\n`
}

const only = (record: Ranges, isMeant: (key: string) => boolean): Ranges =>
  Object.fromEntries(Object.entries(record).filter(([key]) => isMeant(key)))

/** Returns the template folder in the build. */
const template = () =>
  fileURLToPath(new URL("dist/templates/provider", import.meta.resolve("@divisi/cli/package.json")))

/** File name of the template's manifest. npm would treat a nested `package.json` as a package. */
const storedManifest = "package.json.template"

/** The license is left out, because the author must choose one. */
const isOurs = (file: string) => file === "LICENSE"

/** Packs packages into a folder. Returns file names by package name. */
type Pack = (names: ReadonlyArray<string>, to: string) => Promise<Ranges>

/** Returns the Divisi packages that the template requires. */
const ours = async (from: string): Promise<ReadonlyArray<string>> => {
  const text = await fs.readFile(path.join(from, storedManifest), "utf8")
  const { dependencies, devDependencies, peerDependencies } = JSON.parse(text) as ProviderManifest
  const all = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })
  return all.filter((key) => key.startsWith("@divisi/"))
}

/** Writes the provider to a folder and returns the paths of its files. `pack` builds packages from a clone. */
export const write = async (options: {
  readonly name: string
  readonly from: string
  readonly to: string
  readonly version: string
  readonly pack?: Pack | undefined
}): Promise<ReadonlyArray<string>> => {
  const { from, name, pack, to, version } = options
  const packed = pack === undefined ? {} : await pack(await ours(from), path.join(to, packedFolder))
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
    const own = target === "package.json" ? manifestOf(text, name, version, packed) : renamed(text, name)
    await fs.writeFile(path.join(to, target), own, { flag: "wx" })
    written.push(target)
  }
  await fs.writeFile(path.join(to, ".gitignore"), "dist\nnode_modules\n", { flag: "wx" })
  return [...Object.values(packed).map((file) => `${packedFolder}/${file}`), ...written, ".gitignore"]
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

/**
 * Writes to a temporary folder first, so that the final folder appears complete or not at all, and a second attempt
 * does not find partial files.
 */
const writeWhole = Effect.fnUntraced(function* (name: string, to: string) {
  const partial = `${to}.${randomUUID()}.partial`
  const remove = () => fs.rm(partial, { recursive: true, force: true })
  const pack = Clone.isThere() ? Clone.pack : undefined
  const options = { name, from: template(), to: partial, version: manifest.version, pack }
  return yield* attempt(to, () => write(options)).pipe(
    Effect.tap(() => WholeFile.publishFolder(partial, to)),
    Effect.onError(() => Effect.promise(() => remove().catch(() => undefined)))
  )
})

/** Next steps for a project generated from a clone. */
const ofClone = [
  `${packedFolder} contains Divisi packages from this clone. Before you publish, install them from npm instead:`,
  `  npm install @divisi/provider-kit@^${manifest.version}`,
  `  npm install --save-dev @divisi/core@^${manifest.version} @divisi/testkit@^${manifest.version}`
]

/** Next steps for a project generated from an installed command line. */
const ofRegistry = [
  `If npm does not find @divisi/…@^${manifest.version}, it is not published yet: create the project in a clone of Divisi`,
  "with `npx divisi provider new`, which includes its packages."
]

/** Writes a provider to a new or empty folder, and prints the next steps. */
export const create = Effect.fnUntraced(function* (input: NewInput): Effect.fn.Return<void, Failure> {
  const { name } = input
  if (!isName(name)) {
    return yield* usage(
      `"${name}" is not a valid name. Use lowercase letters, digits and hyphens, such as acme-models.`
    )
  }
  const folder = Option.getOrElse(input.directory, () => `divisi-provider-${name}`)
  const to = path.resolve(folder)
  if (yield* Effect.promise(() => isOccupied(to))) {
    return yield* failed(`${folder} already exists and is not empty. Choose another folder with --directory.`)
  }
  const files = yield* Effect.mapError(writeWhole(name, to), ({ message }) => failed(message))
  if (input.json) {
    stdout.write(`${JSON.stringify({ folder: to, files })}\n`)
    return
  }
  yield* Effect.sync(() =>
    stdout.write(
      [
        `Wrote ${files.length} files to ${folder}:`,
        ...files.map((file) => `  ${file}`),
        "",
        "It already works with a real API and passes the tests of the provider contract:",
        `  cd ${quotedPath(folder)} && npm install && npm test`,
        "README.md explains which files to change.",
        ...(Clone.isThere() ? ofClone : ofRegistry),
        ""
      ].join("\n")
    )
  )
})
