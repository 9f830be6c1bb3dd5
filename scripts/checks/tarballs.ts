/** Packs each package and checks the tarball with publint and arethetypeswrong. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { closure, type Member, packages, root } from "../setup/workspace.mjs"
import { run } from "./command.ts"
import type { Report } from "./Report.ts"

/** A folder for this process, or one that CI shares among all checks of a build. */
const shared = process.env.DIVISI_TARBALLS
const destination = shared ?? fs.mkdtempSync(path.join(os.tmpdir(), "divisi-tarballs-"))
if (shared === undefined) process.once("exit", () => fs.rmSync(destination, { recursive: true, force: true }))

/** Returns the path at which {@link pack} stores a package's tarball. */
export const tarballOf = ({ manifest }: Member): string =>
  path.join(destination, `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`)

/**
 * Returns the tarballs of packages and their dependencies in this workspace. Optional dependencies are included only if
 * they are named.
 */
export const tarballsOf = (names: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(names.flatMap((name) => closure(name, { withOptional: false })).map(tarballOf))
]

/** Packs every published package, unless CI has already packed them. Throws pnpm's output if it fails. */
export const pack = async (): Promise<ReadonlyArray<Member>> => {
  const members = packages().filter(({ manifest }) => manifest.private !== true)
  const missingNow = () =>
    members.filter((member) => !fs.existsSync(tarballOf(member))).map(({ manifest }) => manifest.name)
  if (shared !== undefined && missingNow().length === 0) return members
  const packed = await run(["pnpm", "--filter", "./packages/*", "pack", "--pack-destination", destination], {
    cwd: root
  })
  const missing = missingNow()
  if (packed.code !== 0 || missing.length > 0) {
    throw new Error(`pnpm pack failed${missing.map((name) => `; ${name} is missing`).join("")}:\n${packed.output}`)
  }
  return members
}

const publintProblems = async (member: Member, data: Uint8Array<ArrayBuffer>): Promise<ReadonlyArray<string>> => {
  const { messages, pkg } = await publint({ pack: { tarball: data.buffer }, strict: true })
  return messages
    .filter(({ type }) => type !== "suggestion")
    .map((message) => `${member.manifest.name}: publint: ${formatMessage(message, pkg, { color: false })}`)
}

/** Ways to resolve a package that only CommonJS uses. */
const commonJs = ["node10", "node16-cjs"]

const typesProblems = async (member: Member, data: Uint8Array): Promise<ReadonlyArray<string>> => {
  const analysis = await checkPackage(createPackageFromTarballData(data))
  if (!analysis.types) return [`${member.manifest.name}: arethetypeswrong: the package has no types.`]
  return analysis.problems
    .filter((problem) => !("resolutionKind" in problem && commonJs.includes(problem.resolutionKind)))
    .map((problem) => `${member.manifest.name}: arethetypeswrong: ${JSON.stringify(problem)}`)
}

/** Packs every published package and lints the tarballs. Counts two checks per package. */
export const check = async (): Promise<Report> => {
  const found: Array<ReadonlyArray<string>> = []
  for (const member of await pack()) {
    const data = new Uint8Array(fs.readFileSync(tarballOf(member)))
    found.push(await publintProblems(member, data), await typesProblems(member, data))
  }
  return { passed: found.filter((problems) => problems.length === 0).length, problems: found.flat() }
}
