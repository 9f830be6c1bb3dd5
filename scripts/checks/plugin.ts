/**
 * A provider of somebody else works: `divisi provider new`, from an installed tarball, writes a project that installs,
 * builds, type-checks, packs and passes the contract of providers with plain npm, outside of the workspace. Under the
 * name of `examples/provider-plugin` it writes that example, file by file. The command line of this clone writes one that
 * installs before anything is published.
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
/** The example's own name, and one that is written differently as a package and as a function. */
const names = { example: "ollama", other: "acme-models" }

/** What a command is for, and how it is written. */
type Step = readonly [what: string, ...command: ReadonlyArray<string>]

/** Runs commands in a folder until one fails; its problem, as a sentence. */
const steps = async (cwd: string, list: ReadonlyArray<Step>): Promise<ReadonlyArray<string>> => {
  for (const [what, ...command] of list) {
    const { code, output } = await run(command, { cwd })
    if (code !== 0) return [`${what}: "${command.slice(0, 4).join(" ")}" ended with ${code}:\n${output.slice(-4000)}`]
  }
  return []
}

/** Writes both projects with an installed `divisi`. */
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

/** Files of the project that differ from those of the example. */
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

/** Everything an author does with it. */
const use = (project: string): Promise<ReadonlyArray<string>> =>
  steps(project, [
    ["install", ...npmInstall("--no-save", ...tarballsOf(["@divisi/provider-kit", "@divisi/testkit"]))],
    ["types", "npm", "run", "types"],
    ["contract", "npm", "test"],
    ["pack", "npm", "pack"]
  ])

/** What somebody does who has a clone: nothing has to be published, and nothing be named. */
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

/** Writes both projects, compares one with the example, and uses both. */
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
