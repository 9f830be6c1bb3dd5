/**
 * Checks that the commands on pages work as documented: commands with output print it, the flags of all others exist,
 * and every question shown on a page or in `divisi run --help` is answered with the default settings. Needs `pnpm
 * build`.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { extract } from "../documentation/Block.ts"
import { type Call, calls, consoleProblems, hasConsole } from "../documentation/Console.ts"
import { root } from "../setup/workspace.mjs"
import { type Finished, run } from "./command.ts"
import { type Described, describe } from "./described.ts"
import type { Report } from "./Report.ts"

/** Folder for the files of pages. They can import the same packages as the CLI. */
const home = path.join(root, "packages/cli/.examples", `commands-${process.pid}`)

const main = path.join(root, "packages/cli/bin/divisi.js")

/** Returns the environment without the API keys of the user who runs the check. */
const environment = () => ({
  NO_COLOR: "1",
  PATH: `${path.join(home, "bin")}${path.delimiter}${process.env.PATH}`,
  ...Object.fromEntries(
    Object.keys(process.env).flatMap((name) => (/_(API_KEY|BASE_URL)$/.test(name) ? [[name, ""]] : []))
  )
})

const writeProgram = () => {
  fs.mkdirSync(path.join(home, "bin"), { recursive: true })
  fs.writeFileSync(path.join(home, "bin/divisi"), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, {
    mode: 0o755
  })
}

const pages = () =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], {
    cwd: root,
    encoding: "utf8"
  })
    .trim()
    .split("\n")
    .filter((file) => !file.startsWith(".changeset/") && fs.existsSync(path.join(root, file)))
    .map((file) => ({ file, blocks: extract(file, fs.readFileSync(path.join(root, file), "utf8")) }))

const divisi = (args: ReadonlyArray<string>): Promise<Finished> =>
  run([path.join(home, "bin/divisi"), ...args], { cwd: home, env: environment() })

const flagsOf = ({ flags }: Described): ReadonlySet<string> =>
  new Set([
    ...flags.flatMap(({ aliases, name, negation = `no-${name}`, type }) =>
      [name, ...aliases, ...(type._tag === "Boolean" && negation !== false ? [negation] : [])].map((one) => `--${one}`)
    ),
    "--help",
    "--version",
    "--completions"
  ])

const callProblems = (divisi: Described, { file, flags, line, words }: Call): ReadonlyArray<string> => {
  let command = divisi
  for (const word of words) {
    const next = command.subcommands.find(({ name }) => name === word)
    if (next === undefined && command === divisi) return [`${file}:${line}: there is no command \`divisi ${word}\`.`]
    // The words after the command are files and questions.
    if (next === undefined) break
    command = next
  }
  const known = flagsOf(command)
  return flags
    .filter((flag) => !known.has(flag))
    .map((flag) => `${file}:${line}: \`divisi ${words.join(" ")}\` has no ${flag}.`)
}

const questionProblems = async (question: string, where: string): Promise<ReadonlyArray<string>> => {
  const { code, output } = await divisi(["run", question, "--config", "none"])
  return code === 0 && !/\b(I cannot|cannot do this)\b/.test(output)
    ? []
    : [`${where}: the default does not answer "${question}" (exit code ${code}):\n${output}`]
}

/** Checks the commands on all pages. */
export const check = async (): Promise<Report> => {
  const problems: Array<string> = []
  let passed = 0
  const count = (found: ReadonlyArray<string>) => {
    problems.push(...found)
    if (found.length === 0) passed += 1
  }
  writeProgram()
  try {
    const found = pages()
    for (const { blocks, file } of found.filter(({ blocks }) => hasConsole(blocks))) {
      const folder = path.join(home, file.replaceAll(/[^A-Za-z0-9]+/g, "-"))
      const report = await consoleProblems(blocks, folder, environment())
      passed += report.passed
      problems.push(...report.problems)
    }
    const shown = found.flatMap(({ blocks }) => calls(blocks))
    const described = await describe()
    for (const call of shown) count(callProblems(described, call))
    const asked = new Map(
      shown.flatMap(({ file, line, question }) => (question ? [[question, `${file}:${line}`]] : []))
    )
    const { output: text } = await divisi(["run", "--help"])
    const ofHelp = calls([{ file: "divisi run --help", line: 1, language: "sh", info: "", text }])
    for (const { question } of ofHelp) if (question) asked.set(question, "divisi run --help")
    for (const [question, where] of asked) count(await questionProblems(question, where))
    return { passed, problems }
  } finally {
    fs.rmSync(home, { recursive: true, force: true })
  }
}
