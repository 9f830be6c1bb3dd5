/**
 * Checks that third-party providers work: `divisi provider new`, run from an installed tarball, generates a project
 * that installs, builds, type-checks, packs and passes the provider contract with npm, outside of the workspace. With
 * the name of `examples/provider-plugin`, it must generate the same files as that example. The command line in a clone
 * must generate a project that can be installed before a release.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { isDeepStrictEqual } from "node:util"
import { root } from "../setup/workspace.mjs"
import { run } from "./command.ts"
import { npmInstall } from "./installed.ts"
import type { Report } from "./Report.ts"
import { pack, tarballsOf } from "./tarballs.ts"

const example = path.join(root, "examples/provider-plugin")
/** The example's name, and a name that differs between package and function. */
const names = { example: "ollama", other: "acme-models" }

/** The purpose of a command, and the command. */
type Step = readonly [what: string, ...command: ReadonlyArray<string>]

/** Runs commands in a folder until one fails, and returns its problem as a message. */
const steps = async (cwd: string, list: ReadonlyArray<Step>): Promise<ReadonlyArray<string>> => {
  for (const [what, ...command] of list) {
    const { code, output } = await run(command, { cwd })
    if (code !== 0) return [`${what}: "${command.slice(0, 4).join(" ")}" ended with ${code}:\n${output.slice(-4000)}`]
  }
  return []
}

/** Generates both projects with an installed `divisi`. */
const scaffold = (folder: string) => {
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  const create = (name: string): Step => [name, "npx", "--no-install", "divisi", "provider", "new", name]
  return steps(folder, [
    ["the cli", ...npmInstall(...tarballsOf(["@divisi/cli"]))],
    create(names.example),
    create(names.other)
  ])
}

const projectOf = (folder: string, name: string) => path.join(folder, `divisi-provider-${name}`)

/** Returns the files in the project that differ from the example. */
const differences = (project: string): ReadonlyArray<string> => {
  const read = (folder: string, file: string) => fs.readFileSync(path.join(folder, file), "utf8")
  const manifest = (folder: string) => {
    const {
      dependencies: _,
      description: __,
      devDependencies,
      peerDependencies,
      ...rest
    } = JSON.parse(read(folder, "package.json"))
    return { ...rest, devDependencies: Object.keys(devDependencies), peerDependencies: Object.keys(peerDependencies) }
  }
  const files = fs
    .readdirSync(project, { recursive: true, encoding: "utf8" })
    .filter((file) => fs.statSync(path.join(project, file)).isFile())
    .filter((file) => ![".gitignore", "package.json"].includes(file))
  const other = files.filter((file) => read(project, file) !== read(example, file))
  if (!isDeepStrictEqual(manifest(project), manifest(example))) other.push("package.json")
  return other.map((file) => `examples/provider-plugin/${file} is not what \`divisi provider new ollama\` writes.`)
}

/** Performs all steps that an author would. */
const use = (project: string): Promise<ReadonlyArray<string>> =>
  steps(project, [
    ["install", ...npmInstall("--no-save", ...tarballsOf(["@divisi/provider-kit", "@divisi/testkit"]))],
    ["types", "npm", "run", "types"],
    ["contract", "npm", "test"],
    ["pack", "npm", "pack"]
  ])

/** Performs the steps of a user with a clone, for which no packages need to be published. */
const useClone = async (folder: string): Promise<ReadonlyArray<string>> => {
  const project = path.join(folder, "of-clone")
  const divisi = path.join(root, "packages/cli/bin/divisi.js")
  const written = await steps(folder, [
    ["the clone", process.execPath, divisi, "provider", "new", names.other, "--directory", project]
  ])
  if (written.length > 0) return written
  return steps(project, [
    ["install from the clone", ...npmInstall()],
    ["contract from the clone", "npm", "test"],
    ["types from the clone", "npm", "run", "types"]
  ])
}

/** Generates both projects, compares one with the example, and uses both. */
export const check = async (): Promise<Report> => {
  await pack()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-plugin-"))
  try {
    const written = await scaffold(folder)
    if (written.length > 0) return { passed: 0, problems: written }
    const found = [
      differences(projectOf(folder, names.example)),
      await use(projectOf(folder, names.example)),
      await use(projectOf(folder, names.other)),
      await useClone(folder)
    ]
    return { passed: found.filter((problems) => problems.length === 0).length, problems: found.flat() }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
