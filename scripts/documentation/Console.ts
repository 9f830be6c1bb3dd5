/**
 * Commands shown on pages: in `console` blocks with their output, in `sh` blocks without.
 *
 * The `console` blocks of a page are run by `bash` in one folder, which contains the files shown in blocks with a
 * `title="…"`. A line that starts with `$ ` is a command, and the lines below it are its combined output, in which `…`
 * stands for any text, and a line with only `…` for any number of lines. Durations may differ.
 */
import fs from "node:fs"
import path from "node:path"
import { run } from "../checks/command.ts"
import { type Block, title } from "./Block.ts"

export interface Command {
  /** Line in the file, counted from 1. */
  readonly line: number
  readonly text: string
  readonly output: string
}

/** Returns the commands in a `console` block. */
export const commands = ({ line, text }: Block): ReadonlyArray<Command> => {
  const found: Array<{ line: number; text: string; output: Array<string> }> = []
  text.split("\n").forEach((row, at) => {
    if (row.startsWith("$ ")) found.push({ line: line + at, text: row.slice(2), output: [] })
    else if (found.at(-1)?.text.endsWith("\\") && found.at(-1)?.output.length === 0) found.at(-1)!.text += `\n${row}`
    else found.at(-1)?.output.push(row)
  })
  return found.map(({ line, output, text }) => ({ line, text, output: output.join("\n").trim() }))
}

const escapeRegExp = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
const withoutTimes = (text: string) => text.replace(/\d[\d.,]* (ms|s|min)\b/g, "0 s")
const lines = (text: string) =>
  withoutTimes(text)
    .trim()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")

/** Whether the output of a command matches the page. */
export const matches = (shown: string, printed: string): boolean => {
  const pattern = lines(shown)
    .split("\n")
    .map((line) => (line.trim() === "…" ? "(?:.*\\n)*?" : `${line.split("…").map(escapeRegExp).join(".*")}\\n`))
    .join("")
  return new RegExp(`^${pattern}$`).test(`${lines(printed)}\n`)
}

/** Whether a page contains commands to run. */
export const hasConsole = (blocks: ReadonlyArray<Block>): boolean =>
  blocks.some(({ language }) => language === "console")

/** Runs the `console` blocks of a page in a temporary folder. */
export const consoleProblems = async (
  blocks: ReadonlyArray<Block>,
  folder: string,
  environment: Readonly<Record<string, string>>
): Promise<{ readonly passed: number; readonly problems: ReadonlyArray<string> }> => {
  const problems: Array<string> = []
  let passed = 0
  fs.mkdirSync(folder, { recursive: true })
  for (const block of blocks) {
    const name = title(block)
    if (name !== undefined) {
      fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
      fs.writeFileSync(path.join(folder, name), block.text)
    }
    if (block.language !== "console") continue
    for (const { line, output: shown, text } of commands(block)) {
      // Uses a single pipe, as a terminal would, because the order of output from two pipes is undefined.
      const { code, output } = await run(["bash", "-c", `exec 2>&1\n${text}`], { cwd: folder, env: environment })
      if (code !== 0) problems.push(`${block.file}:${line}: \`${text}\` ended with ${code}:\n${output}`)
      else if (!matches(shown, output))
        problems.push(`${block.file}:${line}: \`${text}\` prints something else:\n${output}`)
      else passed += 1
    }
  }
  return { passed, problems }
}

/** A call of `divisi` in a block of commands, and its arguments. */
export interface Call {
  readonly file: string
  readonly line: number
  /** Words before the first flag, text or file, such as `train export`. */
  readonly words: ReadonlyArray<string>
  readonly flags: ReadonlyArray<string>
  /** The question of a `run` with the default pool and policy, if no output is shown. */
  readonly question?: string | undefined
}

/** Returns all calls of `divisi` in `sh` and `console` blocks. */
export const calls = (blocks: ReadonlyArray<Block>): ReadonlyArray<Call> =>
  blocks
    .filter(({ language }) => /^(sh|bash|console)$/.test(language))
    .flatMap(({ file, language, line, text }) => {
      const rows = text.replaceAll("\\\n", "  ").split("\n")
      return rows.flatMap((row, at) =>
        callsOf(row).map(({ question, ...call }) => ({
          file,
          line: line + at,
          ...call,
          question: language === "console" ? undefined : question
        }))
      )
    })

const callsOf = (row: string): ReadonlyArray<Omit<Call, "file" | "line">> => {
  const quoted: Array<string> = []
  const bare = row
    .replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => `"${quoted.push(double ?? single) - 1}"`)
    .replace(/\s#.*$/, "")
  return [...bare.matchAll(/(?:^|[|;&(]|\$)\s*(?:npx )?(?:divisi|npm start --)((?:\s+[^|;&)]+)?)/g)].map(
    ([whole, rest = ""]) => {
      const isStart = whole.includes("npm start")
      const words = isStart
        ? ["run"]
        : (/^(?:\s+[a-z]+\b(?![.:/]))*/.exec(rest)?.[0] ?? "").trim().split(/\s+/).filter(Boolean)
      const flags = [...rest.matchAll(/(?<=\s)--[a-z][a-z-]*/g)].map(([flag]) => flag)
      const asked =
        words[0] === "run" && !/--(pool|policy|file|config)/.test(rest) ? /"(\d+)"/.exec(rest)?.[1] : undefined
      const question = asked === undefined ? undefined : quoted[Number(asked)]
      return { words, flags, question: question?.includes("…") ? undefined : question }
    }
  )
}
