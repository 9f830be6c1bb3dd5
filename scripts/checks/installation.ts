/**
 * What would be published works: tarballs installed with plain npm into an empty folder outside the workspace answer a
 * question there.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { closure } from "../setup/workspace.mjs"
import { run } from "./command.ts"
import type { Report } from "./Report.ts"
import { pack, tarballOf } from "./tarballs.ts"

/** What a user installs, and what is then run there. */
interface Installation {
  readonly name: string
  /** What a user names; what it needs of this workspace comes along. */
  readonly packages: ReadonlyArray<string>
  /** A program of `scripts/installation` that is copied there. */
  readonly program?: string | undefined
  readonly command: ReadonlyArray<string>
  /** The vendors' SDKs that it may bring; not looked at when absent. */
  readonly sdks?: ReadonlyArray<string> | undefined
}

/** The SDKs of vendors: what a user installs brings the one that it is called by, and no other. */
const vendorSdks = ["openai", "@anthropic-ai/sdk", "@google/genai", "ai", "node-llama-cpp"]

/** A package that takes models of another SDK: loaded, since it makes none of its own. */
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
    command: ["node", "gym.mjs"]
  },
  provider("openai", "openai", "gpt-5", "openai"),
  provider("anthropic", "anthropic", "claude-opus-5-5", "@anthropic-ai/sdk"),
  provider("genai", "genai", "gemini-2.5-pro", "@google/genai"),
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
  { name: "cli", packages: ["@divisi/cli"], command: ["npx", "--no-install", "divisi", "run", "What is 17 times 23?"] }
]

const programs = fileURLToPath(new URL("../installation", import.meta.url))

const size = (folder: string): number =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + fs.statSync(path.join(entry.parentPath, entry.name)).size, 0)

/** Reports SDKs in a tree that must not be there, and the size of the tree. */
const strangers = (name: string, modules: string, sdks: ReadonlyArray<string>): ReadonlyArray<string> => {
  process.stdout.write(`installation: ${name}: ${(size(modules) / 1024 / 1024).toFixed(1)} MB installed\n`)
  const installed = vendorSdks.filter((sdk) => fs.existsSync(path.join(modules, sdk)))
  const missing = sdks.filter((sdk) => !installed.includes(sdk))
  return [
    ...installed
      .filter((sdk) => !sdks.includes(sdk))
      .map((sdk) => `${name}: it brings ${sdk}, which it does not name.`),
    ...missing.map((sdk) => `${name}: it does not bring ${sdk}.`)
  ]
}

const install = async ({ command, name, packages, program, sdks }: Installation): Promise<ReadonlyArray<string>> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-installation-"))
  try {
    fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
    if (program !== undefined) fs.copyFileSync(path.join(programs, program), path.join(folder, program))
    const members = new Map(packages.flatMap(closure).map((member) => [member.manifest.name, member]))
    const tarballs = [...members.values()].map(tarballOf)
    const installed = await run(["npm", "install", "--no-audit", "--no-fund", ...tarballs], { cwd: folder })
    if (installed.code !== 0) return [`${name}: npm install failed:\n${installed.output}`]
    const strange = sdks === undefined ? [] : strangers(name, path.join(folder, "node_modules"), sdks)
    const answered = await run(command, { cwd: folder })
    return answered.code === 0 && answered.output.trim() !== ""
      ? strange
      : [`${name}: "${command.join(" ")}" ended with ${answered.code}:\n${answered.output}`]
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Packs the packages and makes each installation. */
export const check = async (): Promise<Report> => {
  await pack()
  const found: Array<ReadonlyArray<string>> = []
  for (const installation of installations) found.push(await install(installation))
  return { passed: found.filter((problems) => problems.length === 0).length, problems: found.flat() }
}
