/** Packages look alike: the same files, the same manifest but for what is their own, one export for each module. */
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

/** A manifest as it is read; what is in it is what this check finds out. */
export type Manifest = Readonly<Record<string, unknown>>

/** What a package looks like. */
export interface Subject {
  /** The folder's name. */
  readonly name: string
  readonly manifest: Manifest
  /** Paths of all its files, relative to its folder. */
  readonly files: ReadonlyArray<string>
  /** The text of `src/index.ts`. */
  readonly index: string
}

const exportOf = (module: string) => ({
  "@divisi/source": `./src/${module}.ts`,
  types: `./dist/${module}.d.ts`,
  default: `./dist/${module}.js`
})

/** The fields that follow from the package's name and are the same everywhere else. */
const commonFields = (name: string, engines: unknown): Manifest => ({
  name: `@divisi/${name}`,
  license: "MIT",
  type: "module",
  repository: { type: "git", url: "git+https://github.com/divisi-ai/divisi.git", directory: `packages/${name}` },
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
  const published = ["dist", "src", "README.md", "LICENSE"]
    .filter((file) => !(manifest.files as ReadonlyArray<string> | undefined)?.includes(file))
    .map((file) => `${where}: "files" must list "${file}".`)
  const described =
    typeof manifest.description === "string" && manifest.description.endsWith(".")
      ? []
      : [`${where}: "description" must be a sentence.`]
  return [...wrong, ...scripts, ...published, ...described]
}

const exportProblems = ({ files, index, manifest, name }: Subject) => {
  const where = `packages/${name}/package.json`
  const declared = (manifest.exports ?? {}) as Record<string, unknown>
  const modules = files
    .map((file) => /^src\/([^/]+)\.ts$/.exec(file)?.[1])
    .filter((module): module is string => module !== undefined && module !== "index")
  const isLibrary = manifest.bin === undefined
  const expected: Record<string, unknown> = {
    ".": exportOf("index"),
    ...(isLibrary ? Object.fromEntries(modules.map((module) => [`./${module}`, exportOf(module)])) : {}),
    "./internal/*": null,
    "./package.json": "./package.json"
  }
  const missing = Object.entries(expected)
    .filter(([key, value]) => !isDeepStrictEqual(declared[key], value))
    .map(([key, value]) => `${where}: "exports" must map "${key}" to ${JSON.stringify(value)}.`)
  const dangling = Object.keys(declared)
    .filter((key) => !(key in expected) && !modules.includes(key.slice(2)))
    .map((key) => `${where}: "exports" names "${key}", which is not in src.`)
  const namespaces = modules
    .filter(
      (module) => isLibrary && /^[A-Z]/.test(module) && !index.includes(`export * as ${module} from "./${module}.ts"`)
    )
    .map((module) => `packages/${name}/src/index.ts: add: export * as ${module} from "./${module}.ts"`)
  return [...missing, ...dangling, ...namespaces]
}

/** Everything in which a package differs from its siblings without need. */
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

/** Compares the packages of this workspace. */
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
