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
import type { Report } from "./Report.ts"

/** Folder for the files of pages. They can import the same packages as the CLI. */
const home = path.join(root, "packages/cli/.examples", `commands-${process.pid}`)

const main = path.join(root, "packages/cli/dist/main.js")

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

const helps = new Map<string, Promise<string>>()
const help = (words: ReadonlyArray<string>): Promise<string> => {
  const name = words.join(" ")
  const known = helps.get(name) ?? divisi(["help", ...words]).then(({ output }) => output)
  helps.set(name, known)
  return known
}

/** Returns the help of the called command. The words after the command are files and questions. */
const helpOf = async (words: ReadonlyArray<string>): Promise<{ readonly known: boolean; readonly text: string }> => {
  const [first, second] = words
  const isCommand = (text: string, word: string) =>
    new RegExp(`^ {2,}${word}\\b`, "m").test(
      text
        .split(/^(?:(?:SUB)?COMMANDS|GLOBAL FLAGS)$/m)
        .slice(1)
        .join()
    )
  const top = await help([])
  if (first === undefined) return { known: true, text: top }
  if (!isCommand(top, first)) return { known: false, text: top }
  const text = await help([first])
  return { known: true, text: second !== undefined && isCommand(text, second) ? await help([first, second]) : text }
}

const callProblems = async ({ file, flags, line, words }: Call): Promise<ReadonlyArray<string>> => {
  const { known, text } = await helpOf(words)
  if (!known) return [`${file}:${line}: there is no command \`divisi ${words[0]}\`.`]
  const isThere = (flag: string) => new RegExp(`${flag}(?![a-z-])`).test(text) || /^--(help|version)$/.test(flag)
  return flags
    .filter((flag) => !isThere(flag))
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
    for (const call of shown) count(await callProblems(call))
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
