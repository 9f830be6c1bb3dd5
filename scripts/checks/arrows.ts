/**
 * Checks which packages depend on which others, based on manifests and imports. Dependencies point in one direction,
 * towards core.
 */
import fs from "node:fs"
import path from "node:path"
import ts from "typescript"
import { type Manifest, packages } from "../setup/workspace.mjs"
import { fromProblems, type Report } from "./Report.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Allowed dependencies of packages whose name matches `from`. A trailing `*` matches any suffix. */
export interface Arrow {
  readonly from: string
  /** Packages in this workspace. */
  readonly to: ReadonlyArray<string>
  /** Third-party packages. If omitted, any are allowed. */
  readonly external?: ReadonlyArray<string> | undefined
  /** Additional packages in this workspace that may be used in tests. */
  readonly tests?: ReadonlyArray<string> | undefined
}

/** The parts of a package that are relevant for this check. */
export interface Subject {
  /** Folder name, e.g. `providers-openai`. */
  readonly name: string
  readonly manifest: Manifest
  /** Path and text of every source file. */
  readonly sources: ReadonlyArray<{ readonly file: string; readonly text: string }>
}

/** The allowed dependencies. The first match applies. */
export const arrows: ReadonlyArray<Arrow> = [
  { from: "core", to: [], external: ["effect"] },
  // Shared by the provider packages.
  { from: "provider-kit", to: ["core"] },
  { from: "providers-*", to: ["core", "provider-kit"] },
  { from: "files", to: ["core"] },
  // Models as files and as plain code, without engines, which would add third-party packages.
  { from: "gguf", to: ["core", "files"], external: ["effect", "pure-rand", "tinyqueue"] },
  // A model implemented in plain code. Its tests use the gym that it was trained in, and compare it with llama.cpp.
  { from: "policy-tiny", to: ["core", "gguf", "policy-lexical"], tests: ["gym", "policy-llamacpp"] },
  { from: "policy-*", to: ["core", "files", "gguf"] },
  // Its tests measure the benefit of a policy without a model.
  { from: "gym", to: ["core"], tests: ["policy-lexical"] },
  // The embedded engine samples in llama.cpp, which also serves its models.
  { from: "trainer-*", to: ["core", "files", "trainer", "gguf", "policy-llamacpp", "provider-kit"] },
  { from: "trainer", to: ["core", "files"] },
  // Trainer engines have a contract, like providers. Both use the testkit only in tests.
  { from: "testkit", to: ["core", "trainer"] },
  // Graders are used by trainers as well as evaluations.
  { from: "graders", to: ["core", "files"] },
  { from: "evals", to: ["core", "files", "graders"] },
  { from: "tools-mcp", to: ["core", "files"] },
  { from: "cluster", to: ["core"] },
  // Its benchmark serves a model over HTTP, like its users.
  { from: "server", to: ["core", "provider-kit"], tests: ["providers-openai"] },
  // Pages are generated from plain data. Tests use data from actual evaluations and training runs.
  { from: "report", to: ["core"], tests: ["evals", "trainer"] },
  // The page takes the types of the server's responses from the server.
  { from: "studio", to: ["core", "report", "server"] },
  // Recipes combine vendors, engines and environments.
  {
    from: "recipes",
    to: ["core", "evals", "gguf", "gym", "policy-*", "providers-*", "trainer", "trainer-*"]
  },
  { from: "cli", to: ["*"] }
]

/**
 * Layers in core, from bottom to top, with the folders that each may import. `run` emits events that the three layers
 * above it fold.
 */
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
  // Equivalent modules that do not expose Effect.
  promise: ["task", "workflow", "policy", "events", "journal", "telemetry", "run", "loop"]
}

/** The only file that may import both the kernel of the run loop and its middleware. */
const pipeline = "src/loop/pipeline.ts"

/** Shared folders in the CLI, from bottom to top. A shared folder must not import a command's folder. */
export const rooms: Readonly<Record<string, ReadonlyArray<string>>> = {
  view: [],
  invocation: ["view"],
  config: ["invocation"],
  vendors: ["view", "invocation", "config"],
  stores: ["view", "invocation", "config", "vendors"],
  team: ["view", "invocation", "config", "vendors", "stores"]
}

/** Folders in the server. `wire` and `segment` refer to each other's types; the HTTP endpoints are above both. */
export const serverRooms: Readonly<Record<string, ReadonlyArray<string>>> = {
  wire: ["segment"],
  segment: ["wire"],
  turns: ["wire", "chat", "messages", "responses"],
  chat: ["wire", "segment", "turns"],
  http: ["wire", "segment", "chat"],
  messages: ["wire", "segment", "turns", "http"],
  responses: ["wire", "segment", "turns", "http", "messages"]
}

/** Package that may additionally be used in tests. */
const forTests = "testkit"

/** Packages that {@link forTests} depends on. If they used it in their tests, the dependency would be circular. */
const underTests: ReadonlyArray<string> = ["core", "trainer"]

// -------------------------------------------------------------------------------------------------------------------
// The check
// -------------------------------------------------------------------------------------------------------------------

const scope = "@divisi/"

const matches = (pattern: string, name: string) =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name

/** Returns the package in an import specifier. `undefined` for relative imports and Node modules. */
const packageOf = (specifier: string): string | undefined => {
  if (specifier.startsWith(".") || specifier.startsWith("node:")) return undefined
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/")
}

/**
 * Returns the imports in a file. The scanner can misinterpret regular expressions, and then treats examples as code.
 */
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
  // The studio app is published as one script that includes its libraries.
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
      // Such an import would resolve to the last build of the package, if there is one.
      if (target === scope + name) return [`${where}: "${specifier}" is ${name} itself; import it by its path.`]
      if (!allows(target)) return [`${where}: ${name} may not import ${target}; see scripts/checks/arrows.ts.`]
      return target in declared || isBundled(file)
        ? []
        : [`${where}: ${target} is not in the dependencies of packages/${name}/package.json.`]
    })
  )
}

/**
 * Returns imports between folders in a package that point upwards. Folders that are not in the table may import
 * anything.
 */
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

/** Whether a file is a list of middleware to load together. Only {@link pipeline} may import such a list. */
const isList = (file: string): boolean => /^src\/middleware\/[^/]+$/.test(file)

/** Returns imports of middleware by the kernel of the run loop or by other middleware. */
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

/** Returns a message for each dependency that the table does not allow. */
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

/** Checks the packages in this workspace. */
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
    ...layerProblems(sources("cli"), "cli", rooms),
    ...layerProblems(sources("server"), "server", serverRooms)
  ])
}
