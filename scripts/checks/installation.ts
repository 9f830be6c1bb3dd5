/** Checks that tarballs installed with npm in an empty folder outside the workspace can answer a question. */
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { run } from "./command.ts"
import { inProject, install, treeOf } from "./installed.ts"
import type { Report } from "./Report.ts"
import { pack, tarballsOf } from "./tarballs.ts"

/** The packages that a user installs, and the program to run. */
interface Installation {
  readonly name: string
  /** Packages that the user installs. Their dependencies in this workspace are installed as well. */
  readonly packages: ReadonlyArray<string>
  /** Program in `scripts/installation` to copy into the folder and run. */
  readonly program?: string | undefined
  readonly command: ReadonlyArray<string>
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
  program: "adapter.mjs",
  command: ["node", "adapter.mjs", `@divisi/providers-${name}`, constructor],
  sdks
})

const provider = (name: string, constructor: string, model: string, ...sdks: ReadonlyArray<string>): Installation => ({
  name: `provider ${name}`,
  packages: [`@divisi/providers-${name}`],
  program: "provider.mjs",
  command: ["node", "provider.mjs", `@divisi/providers-${name}`, constructor, model],
  sdks
})

const installations: ReadonlyArray<Installation> = [
  { name: "core alone", packages: ["@divisi/core"], program: "core.mjs", command: ["node", "core.mjs"], sdks: [] },
  {
    name: "core and gym",
    packages: ["@divisi/core", "@divisi/gym", "@divisi/policy-lexical"],
    program: "gym.mjs",
    command: ["node", "gym.mjs"],
    sdks: []
  },
  provider("openai", "openai", "gpt-5", "openai"),
  provider("anthropic", "anthropic", "claude-opus-5-5", "@anthropic-ai/sdk"),
  { ...provider("genai", "genai", "gemini-2.5-pro", "@google/genai"), scripts: ["protobufjs"] },
  provider("google", "google", "gemini-2.5-pro"),
  adapter("ai-sdk", "aiSdk", ["ai"]),
  adapter("effect", "fromLanguageModel", []),
  {
    name: "tiny Conductor",
    packages: ["@divisi/policy-tiny", "@divisi/gym"],
    program: "tiny.mjs",
    command: ["node", "tiny.mjs"],
    sdks: []
  },
  {
    name: "tiny Conductor by require",
    packages: ["@divisi/policy-tiny", "@divisi/gym"],
    program: "tiny.cjs",
    command: ["node", "tiny.cjs"],
    sdks: []
  },
  {
    name: "cli",
    packages: ["@divisi/cli"],
    command: ["npx", "--no-install", "divisi", "run", "How many minutes are there in 3 days?", "--policy", "conductor"],
    sdks: []
  }
]

const programs = fileURLToPath(new URL("../installation", import.meta.url))

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

const made = (installation: Installation): Promise<ReadonlyArray<string>> =>
  inProject(async (folder) => {
    const { command, name, packages, program } = installation
    if (program !== undefined) fs.copyFileSync(path.join(programs, program), path.join(folder, program))
    const installed = await install(folder, tarballsOf(packages))
    if (installed.code !== 0) return [`${name}: npm install failed:\n${installed.output}`]
    const strange = strangers(installation, folder)
    const answered = await run(command, { cwd: folder })
    return answered.code === 0 && answered.output.trim() !== ""
      ? strange
      : [`${name}: "${command.join(" ")}" ended with ${answered.code}:\n${answered.output}`]
  })

/** Packs the packages and checks each installation. */
export const check = async (): Promise<Report> => {
  await pack()
  const found: Array<ReadonlyArray<string>> = []
  for (const installation of installations) found.push(await made(installation))
  return { passed: found.filter((problems) => problems.length === 0).length, problems: found.flat() }
}
