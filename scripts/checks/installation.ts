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
  readonly program?: string
  readonly command: ReadonlyArray<string>
}

const installations: ReadonlyArray<Installation> = [
  { name: "core alone", packages: ["@tutti/core"], program: "core.mjs", command: ["node", "core.mjs"] },
  { name: "core and gym", packages: ["@tutti/core", "@tutti/gym"], program: "gym.mjs", command: ["node", "gym.mjs"] },
  { name: "cli", packages: ["@tutti/cli"], command: ["npx", "--no-install", "tutti", "run", "What is 17 times 23?"] }
]

const programs = fileURLToPath(new URL("../installation", import.meta.url))

const install = async ({ command, name, packages, program }: Installation): Promise<ReadonlyArray<string>> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "tutti-installation-"))
  try {
    fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
    if (program !== undefined) fs.copyFileSync(path.join(programs, program), path.join(folder, program))
    const members = new Map(packages.flatMap(closure).map((member) => [member.manifest.name, member]))
    const tarballs = [...members.values()].map(tarballOf)
    const installed = await run(["npm", "install", "--no-audit", "--no-fund", ...tarballs], { cwd: folder })
    if (installed.code !== 0) return [`${name}: npm install failed:\n${installed.output}`]
    const answered = await run(command, { cwd: folder })
    return answered.code === 0 && answered.output.trim() !== ""
      ? []
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
