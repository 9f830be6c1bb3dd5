/** Checks that packages have the same files, similar manifests, and entry points of the same form. */
import fs from "node:fs"
import path from "node:path"
import { isDeepStrictEqual } from "node:util"
import { packages, root } from "../setup/workspace.mjs"
import { fromProblems, type Report } from "./Report.ts"

const files = [
  "package.json",
  "README.md",
  "LICENSE",
  "tsconfig.json",
  "tsup.config.ts",
  "vitest.config.ts",
  "src/index.ts"
]

/** Maximum number of entry points, not counting the manifest. All other packages may have 4. */
const entryPoints: Readonly<Record<string, number>> = { core: 15 }

/** Modules that are not exported from the index, because they load schemas that most programs do not need. */
const apart: Readonly<Record<string, ReadonlyArray<string>>> = {
  core: ["RunSettings", "Telemetry", "Wire"],
  "provider-kit": ["ProviderGate"]
}

/** A parsed manifest. This check determines whether it is valid. */
export type Manifest = Readonly<Record<string, unknown>>

/** The parts of a package that are compared. */
export interface Subject {
  /** Folder name. */
  readonly name: string
  readonly manifest: Manifest
  /** Paths of all files, relative to the folder. */
  readonly files: ReadonlyArray<string>
  /** Text of `src/index.ts`. */
  readonly index: string
}

/** Returns an entry point. Its source may be in any folder in `src`, and all built files are in one folder. */
const exportOf = (subpath: string, source: string) => {
  const file = subpath === "." ? "index" : subpath.slice(2)
  return { "@divisi/source": source, types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` }
}

/** Returns the fields that depend only on the package's name. */
const commonFields = (name: string, engines: unknown): Manifest => ({
  name: `@divisi/${name}`,
  license: "MIT",
  type: "module",
  engines,
  publishConfig: { access: "public" }
})

const fieldProblems = ({ manifest, name }: Subject, engines: unknown) => {
  const where = `packages/${name}/package.json`
  const wrong = Object.entries(commonFields(name, engines))
    .filter(([field, value]) => !isDeepStrictEqual(manifest[field], value))
    .map(([field, value]) => `${where}: "${field}" must be ${JSON.stringify(value)}.`)
  const scripts = Object.entries({ build: "tsup", types: "tsc --noEmit", test: "vitest run" })
    .filter(
      ([script, command]) => !(manifest.scripts as Record<string, string> | undefined)?.[script]?.startsWith(command)
    )
    .map(([script, command]) => `${where}: script "${script}" must begin with "${command}".`)
  const repeated = ["repository", "homepage", "bugs", "author"]
    .filter((field) => field in manifest)
    .map((field) => `${where}: "${field}" stands in the root's manifest alone.`)
  const [first, ...keywords] = (manifest.keywords ?? []) as ReadonlyArray<string>
  const sought =
    first === "divisi" && keywords.length >= 2
      ? []
      : [`${where}: "keywords" must be "divisi" and at least two words that people search for.`]
  const published = ["dist", "src", "README.md", "LICENSE"]
    .filter((file) => !(manifest.files as ReadonlyArray<string> | undefined)?.includes(file))
    .map((file) => `${where}: "files" must list "${file}".`)
  const described =
    typeof manifest.description === "string" && manifest.description.endsWith(".")
      ? []
      : [`${where}: "description" must be a sentence.`]
  return [...wrong, ...repeated, ...sought, ...scripts, ...published, ...described]
}

const exportProblems = ({ files, index, manifest, name }: Subject) => {
  const where = `packages/${name}/package.json`
  const { "./package.json": self, ...entries } = (manifest.exports ?? {}) as Record<string, unknown>
  const unnamed = self === "./package.json" ? [] : [`${where}: "exports" must map "./package.json" to itself.`]
  const wrong = Object.entries(entries).flatMap(([subpath, entry]) => {
    const source = (entry as Record<string, string> | null)?.["@divisi/source"] ?? "./src/index.ts"
    if (!files.includes(source.slice(2))) return [`${where}: "exports" names ${source}, which does not exist.`]
    const expected = exportOf(subpath, source)
    return isDeepStrictEqual(entry, expected)
      ? []
      : [`${where}: "exports" must map "${subpath}" to ${JSON.stringify(expected)}.`]
  })
  const limit = entryPoints[name] ?? 4
  const count = Object.keys(entries).length
  const many =
    count > limit
      ? [`${where}: "exports" has ${count} entry points; at most ${limit}. Name modules in src/index.ts.`]
      : []
  // A module with a separate entry point must also be a namespace in the index.
  const hidden = Object.entries(entries)
    .map(([subpath, entry]) => ({
      module: subpath.slice(2),
      source: (entry as Record<string, string> | null)?.["@divisi/source"]
    }))
    .filter(({ module }) => /^[A-Z]\w*$/.test(module) && !apart[name]?.includes(module))
    .map(({ module, source }) => `export * as ${module} from "${source?.replace("./src/", "./")}"`)
    .filter((line) => !index.includes(line))
    .map((line) => `packages/${name}/src/index.ts: add: ${line}`)
  return [...unnamed, ...("." in entries ? [] : [`${where}: "exports" must name ".".`]), ...many, ...wrong, ...hidden]
}

/** Returns all unnecessary differences between a package and the others. */
export const differences = (subject: Subject, engines: unknown): ReadonlyArray<string> => [
  ...files
    .filter((file) => !subject.files.includes(file))
    .map((file) => `packages/${subject.name}: ${file} is missing.`),
  ...(subject.files.some((file) => file.startsWith("test/") && file.endsWith(".test.ts"))
    ? []
    : [`packages/${subject.name}: there is no test in test/.`]),
  ...fieldProblems(subject, engines),
  ...exportProblems(subject)
]

const filesOf = (folder: string): ReadonlyArray<string> =>
  ["", "src", "test"].flatMap((part) => {
    const at = path.join(folder, part)
    if (!fs.existsSync(at)) return []
    const recursive = part !== ""
    return fs
      .readdirSync(at, { recursive, encoding: "utf8" })
      .map((file) => path.posix.join(part, file.split(path.sep).join("/")))
  })

/** Compares the packages in this workspace. */
export const check = (): Report => {
  const { engines } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))
  return fromProblems(
    packages().flatMap(({ folder, manifest }) => {
      const index = path.join(folder, "src/index.ts")
      return differences(
        {
          name: path.basename(folder),
          manifest: { ...manifest },
          files: filesOf(folder),
          index: fs.existsSync(index) ? fs.readFileSync(index, "utf8") : ""
        },
        engines
      )
    })
  )
}
