/** Checks that tarballs installed with npm in an empty folder outside the workspace can answer a question. */
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { run } from "./command.ts"
import { inProject, install, treeOf } from "./installed.ts"
import type { Report } from "./Report.ts"
import { pack, tarballsOf } from "./tarballs.ts"

/** The packages that a user installs, and the programs to run. */
interface Installation {
  readonly name: string
  /** Packages that the user installs. Their dependencies in this workspace are installed as well. */
  readonly packages: ReadonlyArray<string>
  /** Programs in `scripts/installation` to copy into the folder. */
  readonly programs?: ReadonlyArray<string> | undefined
  /** Commands, each of which must print something. */
  readonly commands: ReadonlyArray<ReadonlyArray<string>>
  /** Vendor SDKs that are installed as dependencies. */
  readonly sdks: ReadonlyArray<string>
  /** Packages that are expected to run an install script. */
  readonly scripts?: ReadonlyArray<string> | undefined
}

/** Vendor SDKs. An installation must contain only the one that its provider uses. */
const vendorSdks = ["openai", "@anthropic-ai/sdk", "@google/genai", "ai", "node-llama-cpp"]

/** A package that adapts models from another SDK. It is only loaded, because it creates no models. */
const adapter = (name: string, constructor: string, sdks: ReadonlyArray<string>): Installation => ({
  name: `provider ${name}`,
  packages: [`@divisi/providers-${name}`],
  programs: ["adapter.mjs"],
  commands: [["node", "adapter.mjs", `@divisi/providers-${name}`, constructor]],
  sdks
})

const provider = (name: string, constructor: string, model: string, ...sdks: ReadonlyArray<string>): Installation => ({
  name: `provider ${name}`,
  packages: [`@divisi/providers-${name}`],
  programs: ["provider.mjs"],
  commands: [["node", "provider.mjs", `@divisi/providers-${name}`, constructor, model]],
  sdks
})

const installations: ReadonlyArray<Installation> = [
  {
    name: "core alone",
    packages: ["@divisi/core"],
    programs: ["core.mjs"],
    commands: [["node", "core.mjs"]],
    sdks: []
  },
  {
    name: "core and gym",
    packages: ["@divisi/core", "@divisi/gym", "@divisi/policy-lexical"],
    programs: ["gym.mjs"],
    commands: [["node", "gym.mjs"]],
    sdks: []
  },
  provider("openai", "openai", "gpt-5", "openai"),
  provider("anthropic", "anthropic", "claude-opus-5-5", "@anthropic-ai/sdk"),
  { ...provider("genai", "genai", "gemini-2.5-pro", "@google/genai"), scripts: ["protobufjs"] },
  provider("google", "google", "gemini-2.5-pro"),
  adapter("ai-sdk", "aiSdk", ["ai"]),
  adapter("effect", "fromLanguageModel", []),
  {
    name: "tiny Conductor, by import and by require",
    packages: ["@divisi/policy-tiny", "@divisi/gym"],
    programs: ["tiny.mjs", "tiny.cjs"],
    commands: [
      ["node", "tiny.mjs"],
      ["node", "tiny.cjs"]
    ],
    sdks: []
  },
  {
    name: "cli",
    packages: ["@divisi/cli"],
    commands: [
      ["npx", "--no-install", "divisi", "run", "How many minutes are there in 3 days?", "--policy", "conductor"]
    ],
    sdks: []
  }
]

const home = fileURLToPath(new URL("../installation", import.meta.url))

/** Returns packages and scripts that an installation must not contain. */
const strangers = ({ name, sdks, scripts = [] }: Installation, folder: string): ReadonlyArray<string> => {
  const { bytes, packages, scripted } = treeOf(folder)
  process.stdout.write(`installation: ${name}: ${packages} packages, ${(bytes / 1e6).toFixed(1)} MB\n`)
  const running = scripted.filter((one) => !scripts.includes(one))
  const installed = vendorSdks.filter((sdk) => fs.existsSync(path.join(folder, "node_modules", sdk)))
  return [
    ...running.map((one) => `${name}: ${one} runs a script when it is installed.`),
    ...installed
      .filter((sdk) => !sdks.includes(sdk))
      .map((sdk) => `${name}: it brings ${sdk}, which it does not name.`),
    ...sdks.filter((sdk) => !installed.includes(sdk)).map((sdk) => `${name}: it does not bring ${sdk}.`)
  ]
}

/** Runs a command in an installation. */
const used = async (name: string, folder: string, command: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const { code, output } = await run(command, { cwd: folder })
  return code === 0 && output.trim() !== "" ? [] : [`${name}: "${command.join(" ")}" ended with ${code}:\n${output}`]
}

/** Installs packages in a project that has the core, and uses them. */
const made = (installation: Installation, core: string): Promise<ReadonlyArray<string>> =>
  inProject(async (folder) => {
    const { commands, name, packages, programs = [] } = installation
    const linked = await run(["cp", "-Rl", "node_modules", folder], { cwd: core })
    if (linked.code !== 0) return [`${name}: cp failed:\n${linked.output}`]
    // npm writes these in place.
    fs.rmSync(path.join(folder, "node_modules/.package-lock.json"))
    for (const file of ["package.json", "package-lock.json"]) {
      fs.copyFileSync(path.join(core, file), path.join(folder, file))
    }
    for (const program of programs) fs.copyFileSync(path.join(home, program), path.join(folder, program))
    const installed = await install(folder, tarballsOf(packages))
    if (installed.code !== 0) return [`${name}: npm install failed:\n${installed.output}`]
    const problems = [...strangers(installation, folder)]
    for (const command of commands) problems.push(...(await used(name, folder, command)))
    return problems
  })

/**
 * Packs the packages and checks each installation. All of them contain the core, so it is installed once, and each project
 * starts with hard links to its files.
 */
export const check = async (): Promise<Report> => {
  await pack()
  return inProject(async (core) => {
    const installed = await install(core, tarballsOf(["@divisi/core"]))
    if (installed.code !== 0) return { passed: 0, problems: [`npm install failed:\n${installed.output}`] }
    const found: Array<ReadonlyArray<string>> = []
    for (const installation of installations) found.push(await made(installation, core))
    return { passed: found.filter((problems) => problems.length === 0).length, problems: found.flat() }
  })
}
