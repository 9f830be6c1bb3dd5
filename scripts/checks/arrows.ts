/**
 * Which package may depend on which: arrows point one way, towards core. Manifests and imports are held to one table.
 */
import fs from "node:fs"
import path from "node:path"
import ts from "typescript"
import { type Manifest, packages } from "../setup/workspace.mjs"
import { fromProblems, type Report } from "./Report.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What the packages whose name matches `from` may use. A name that ends in `*` stands for all that begin like it. */
export interface Arrow {
  readonly from: string
  /** Packages of this workspace. */
  readonly to: ReadonlyArray<string>
  /** Packages of others; any when absent. */
  readonly external?: ReadonlyArray<string> | undefined
  /** Packages of this workspace that its tests may use on top. */
  readonly tests?: ReadonlyArray<string> | undefined
}

/** A package as far as arrows go. */
export interface Subject {
  /** The folder's name, e.g. `providers-openai`. */
  readonly name: string
  readonly manifest: Manifest
  /** File name and text of every source file. */
  readonly sources: ReadonlyArray<{ readonly file: string; readonly text: string }>
}

/** The arrows that may be drawn; the first that matches a package counts. */
export const arrows: ReadonlyArray<Arrow> = [
  { from: "core", to: [], external: ["effect"] },
  // What packages of providers share.
  { from: "provider-kit", to: ["core"] },
  { from: "providers-*", to: ["core", "provider-kit"] },
  { from: "files", to: ["core"] },
  // Models as files and as plain code, without engines that name other packages.
  { from: "gguf", to: ["core", "files"], external: ["effect", "pure-rand", "tinyqueue"] },
  // A model that plain code runs; its tests hold it to the gym that it was trained in, and to llama.cpp.
  { from: "policy-tiny", to: ["core", "gguf", "policy-lexical"], tests: ["gym", "policy-llamacpp"] },
  { from: "policy-*", to: ["core", "files", "gguf"] },
  // Its tests measure what a policy without a model gains.
  { from: "gym", to: ["core"], tests: ["policy-lexical"] },
  // The embedded engine samples where its models are served: in llama.cpp.
  { from: "trainer-*", to: ["core", "files", "trainer", "gguf", "policy-llamacpp", "provider-kit"] },
  { from: "trainer", to: ["core", "files"] },
  // Engines of the trainer are held to a contract as providers are. Neither knows the testkit but in tests.
  { from: "testkit", to: ["core", "trainer"] },
  // What says whether an answer is right: trainers need it as much as evaluations do.
  { from: "graders", to: ["core", "files"] },
  { from: "evals", to: ["core", "files", "graders"] },
  { from: "tools-mcp", to: ["core", "files"] },
  { from: "cluster", to: ["core"] },
  // Its bench serves a model behind HTTP, as its users do.
  { from: "server", to: ["core", "provider-kit"], tests: ["providers-openai"] },
  // Pages are drawn from data alone; tests hold them to the data that evaluations and trainings give.
  { from: "report", to: ["core"], tests: ["evals", "trainer"] },
  { from: "studio", to: ["core", "report"] },
  // Recipes compose: vendors, engines and worlds.
  {
    from: "recipes",
    to: ["core", "evals", "gguf", "gym", "policy-*", "providers-*", "trainer", "trainer-*"]
  },
  { from: "cli", to: ["*"] }
]

/** Core's folders, from the ground up: what each may import from. `run` emits the events that the three above it fold. */
export const layers: Readonly<Record<string, ReadonlyArray<string>>> = {
  task: [],
  workflow: ["task"],
  policy: ["task", "workflow"],
  events: ["task", "workflow"],
  journal: ["task", "workflow", "events"],
  telemetry: ["task", "workflow", "events"],
  run: ["task", "workflow", "policy", "events", "journal", "telemetry", "loop"],
  loop: ["task", "workflow", "policy", "events", "journal", "telemetry", "run", "middleware"],
  middleware: ["task", "workflow", "policy", "events", "journal", "telemetry", "run", "loop"],
  // The same without Effect.
  promise: ["task", "workflow", "policy", "events", "journal", "telemetry", "run", "loop"]
}

/** The only file that may name both the kernel of the run loop and its middleware. */
const pipeline = "src/loop/pipeline.ts"

/** The rooms that the commands of the CLI share, from the ground up. A shared room imports no command's folder. */
export const rooms: Readonly<Record<string, ReadonlyArray<string>>> = {
  view: [],
  invocation: ["view"],
  config: ["invocation"],
  vendors: ["view", "invocation", "config"],
  stores: ["view", "invocation", "config", "vendors"],
  team: ["view", "invocation", "config", "vendors", "stores"]
}

/** What tests may use on top. */
const forTests = "testkit"

/** The packages that {@link forTests} stands on: with it in their tests, packages would need each other. */
const underTests: ReadonlyArray<string> = ["core", "trainer"]

// -------------------------------------------------------------------------------------------------------------------
// The check
// -------------------------------------------------------------------------------------------------------------------

const scope = "@divisi/"

const matches = (pattern: string, name: string) =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name

/** The package that an import specifier names; `undefined` for a relative one and for Node's own modules. */
const packageOf = (specifier: string): string | undefined => {
  if (specifier.startsWith(".") || specifier.startsWith("node:")) return undefined
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/")
}

/** What a file imports. The scanner can lose its way at a regular expression and take an example for code. */
const importsOf = (text: string): ReadonlyArray<string> =>
  ts
    .preProcessFile(text)
    .importedFiles.filter(({ pos }) => !/^\s*\*/.test(text.slice(text.lastIndexOf("\n", pos) + 1, pos)))
    .map(({ fileName }) => fileName)

const manifestProblems = ({ manifest, name }: Subject, { tests = [] }: Arrow, allows: (target: string) => boolean) => {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = manifest
  const runtime = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
  const test = Object.keys(devDependencies ?? {}).filter((target) => target.startsWith(scope))
  const allowsInTests = (target: string) =>
    allows(target) ||
    tests.some((one) => target === scope + one) ||
    (target === scope + forTests && !underTests.includes(name))
  return [...runtime.filter((target) => !allows(target)), ...test.filter((target) => !allowsInTests(target))].map(
    (target) => `packages/${name}/package.json: ${name} may not depend on ${target}; see scripts/checks/arrows.ts.`
  )
}

const importProblems = ({ manifest, name, sources }: Subject, allows: (target: string) => boolean) => {
  const { dependencies, optionalDependencies, peerDependencies } = manifest
  const declared = { ...dependencies, ...optionalDependencies, ...peerDependencies }
  // The page of the studio is published as one script, with its libraries inside.
  const isBundled = (file: string) => name === "studio" && file.startsWith("src/app/")
  return sources.flatMap(({ file, text }) =>
    importsOf(text).flatMap((specifier) => {
      const where = `packages/${name}/${file}`
      if (specifier.startsWith(".")) {
        const target = path.posix.join(path.posix.dirname(file), specifier)
        return target.startsWith("src/") || target === "package.json"
          ? []
          : [`${where}: "${specifier}" leaves src; import the package it is in.`]
      }
      const target = packageOf(specifier)
      if (target === undefined) return []
      // What it would find is the package as it was built last, if it was.
      if (target === scope + name) return [`${where}: "${specifier}" is ${name} itself; import it by its path.`]
      if (!allows(target)) return [`${where}: ${name} may not import ${target}; see scripts/checks/arrows.ts.`]
      return target in declared || isBundled(file)
        ? []
        : [`${where}: ${target} is not in the dependencies of packages/${name}/package.json.`]
    })
  )
}

/** Imports between the folders of a package that point upwards. Folders that the table does not name are free. */
export const layerProblems = (
  sources: Subject["sources"],
  name = "core",
  table: Readonly<Record<string, ReadonlyArray<string>>> = layers
): ReadonlyArray<string> =>
  sources.flatMap(({ file, text }) => {
    const folder = /^src\/([^/]+)\//.exec(file)?.[1] ?? ""
    const allowed = table[folder]
    if (allowed === undefined) return []
    return importsOf(text).flatMap((specifier) => {
      if (!specifier.startsWith(".")) return []
      const target = /^src\/([^/]+)\//.exec(path.posix.join(path.posix.dirname(file), specifier))?.[1]
      return target === undefined || target === folder || allowed.includes(target)
        ? []
        : [`packages/${name}/${file}: "${specifier}" points upwards: ${folder} is below ${target}.`]
    })
  })

const middlewareOf = (file: string): string | undefined => /^src\/middleware\/([^/]+)\//.exec(file)?.[1]

/** A list of middleware that is loaded together, which {@link pipeline} alone imports. */
const isList = (file: string): boolean => /^src\/middleware\/[^/]+$/.test(file)

/** Imports of middleware by the kernel of the run loop, or by another middleware. */
export const pipelineProblems = (sources: Subject["sources"]): ReadonlyArray<string> =>
  sources.flatMap(({ file, text }) => {
    if (file === pipeline || isList(file) || !/^src\/(?:loop|middleware)\//.test(file)) return []
    return importsOf(text).flatMap((specifier) => {
      const imported = path.posix.join(path.posix.dirname(file), specifier)
      const target = middlewareOf(imported) ?? (isList(imported) ? imported : undefined)
      if (!specifier.startsWith(".") || target === undefined || target === middlewareOf(file)) return []
      const where = `packages/core/${file}: "${specifier}"`
      return middlewareOf(file) === undefined
        ? [`${where} is middleware, which only ${pipeline} may import into the kernel.`]
        : [`${where} is another middleware; both get what they share from src/loop, or from ${pipeline}.`]
    })
  })

/** Every arrow that the table does not allow, as a sentence. */
export const violations = (
  subjects: ReadonlyArray<Subject>,
  table: ReadonlyArray<Arrow> = arrows
): ReadonlyArray<string> =>
  subjects.flatMap((subject) => {
    const arrow = table.find(({ from }) => matches(from, subject.name))
    if (arrow === undefined) {
      return [`packages/${subject.name}: no arrow is drawn for it yet; add one to scripts/checks/arrows.ts.`]
    }
    const allows = (target: string) =>
      target.startsWith(scope)
        ? arrow.to.some((pattern) => matches(scope + pattern, target))
        : (arrow.external?.includes(target) ?? true)
    return [...manifestProblems(subject, arrow, allows), ...importProblems(subject, allows)]
  })

const sourcesOf = (folder: string) => {
  if (!fs.existsSync(path.join(folder, "src"))) return []
  return fs
    .readdirSync(path.join(folder, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|tsx|mts|js|mjs)$/.test(file))
    .map((file) => ({
      file: path.posix.join("src", file.split(path.sep).join("/")),
      text: fs.readFileSync(path.join(folder, "src", file), "utf8")
    }))
}

/** Holds the packages of this workspace to the table. */
export const check = (): Report => {
  const subjects = packages().map(({ folder, manifest }) => ({
    name: path.basename(folder),
    manifest,
    sources: sourcesOf(folder)
  }))
  const sources = (wanted: string) => subjects.find(({ name }) => name === wanted)?.sources ?? []
  return fromProblems([
    ...violations(subjects),
    ...layerProblems(sources("core")),
    ...pipelineProblems(sources("core")),
    ...layerProblems(sources("cli"), "cli", rooms)
  ])
}
