/**
 * Checks that every `ts` code block in docstrings and on pages type-checks, runs and produces the documented values,
 * and that no documented value is skipped.
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { extract } from "../documentation/Block.ts"
import { type Example, fromBlock, mentions, type Runnable, toRunnable } from "../documentation/Example.ts"
import { compiler, root } from "../setup/workspace.mjs"
import { run } from "./command.ts"
import type { Report } from "./Report.ts"

/** An example, written to disk in the folder of a package so that it can import the package's dependencies. */
interface Prepared {
  readonly example: Example
  readonly runnable: Runnable
  readonly file: string
}

/** Package whose dependencies are available to examples on pages that belong to no package. */
const homeOfPages = "packages/cli"
/** Separate folder for each process, so that several checks can run concurrently. */
const folderName = path.join(".examples", String(process.pid))
const runner = fileURLToPath(new URL("../documentation/runner.ts", import.meta.url))

const homeOf = (file: string) => /^packages\/[^/]+/.exec(file)?.[0] ?? homeOfPages

const trackedFiles = (): ReadonlyArray<string> =>
  execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter((file) => fs.existsSync(path.join(root, file)))

/** Whether examples in a file are checked. */
const isDocumentation = (file: string) =>
  (file.endsWith(".md") && !file.startsWith(".changeset/")) || /^packages\/[^/]+\/src\/.*\.ts$/.test(file)

/** Returns the examples in files, and a message for each claim outside of an example. */
export const findExamples = (
  files: ReadonlyArray<{ readonly file: string; readonly text: string }>
): { readonly examples: ReadonlyArray<Example>; readonly problems: ReadonlyArray<string> } => {
  const found = files.map(({ file, text }) => {
    const blocks = isDocumentation(file) ? extract(file, text) : []
    const examples = blocks.map(fromBlock).filter((example) => example !== undefined)
    const isInExample = (line: number) =>
      examples.some((example) => line >= example.line && line < example.line + example.code.split("\n").length)
    const problems = mentions(file, text)
      .filter((line) => !isInExample(line))
      .map((line) => `${file}:${line}: "// =>" stands outside of the examples, where nobody checks it.`)
    return { examples, problems }
  })
  return { examples: found.flatMap(({ examples }) => examples), problems: found.flatMap(({ problems }) => problems) }
}

const prepare = (examples: ReadonlyArray<Example>): ReadonlyArray<Prepared> =>
  examples.map((example) => {
    const folder = path.join(root, homeOf(example.file), folderName)
    fs.mkdirSync(folder, { recursive: true })
    const file = path.join(folder, `${example.file.replaceAll(/[^A-Za-z0-9]+/g, "-")}-${example.line}.ts`)
    const runnable = toRunnable(example)
    fs.writeFileSync(file, runnable.code)
    return { example, runnable, file }
  })

/** Type-checks the examples as written, all in one program. */
const typeProblems = async (prepared: ReadonlyArray<Prepared>): Promise<ReadonlyArray<string>> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-documentation-"))
  try {
    for (const { example, file } of prepared) fs.writeFileSync(file, example.code)
    const project = path.join(folder, "tsconfig.json")
    const settings = {
      extends: path.join(root, "tsconfig.base.json"),
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        typeRoots: [path.join(root, "node_modules/@types")]
      },
      files: prepared.map(({ file }) => file)
    }
    fs.writeFileSync(project, JSON.stringify(settings))
    const { code, output } = await run(
      [process.execPath, compiler, "-p", project, "--pretty", "false", "--checkers", "1"],
      { cwd: root }
    )
    const byFile = new Map(prepared.map(({ example, file }) => [path.relative(root, file), example]))
    const problems = typeErrors(output).flatMap(({ file, line, message }) => {
      const example = byFile.get(path.normalize(file))
      return example === undefined ? [] : [`${example.file}:${example.line + line - 1}: ${message}`]
    })
    if (code !== 0 && problems.length === 0 && !/error TS/.test(output))
      throw new Error(`The compiler failed:\n${output}`)
    return problems
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
    for (const { file, runnable } of prepared) fs.writeFileSync(file, runnable.code)
  }
}

/** Returns the errors in the compiler's output. Additional lines of a message are indented. */
const typeErrors = (output: string) =>
  [...output.matchAll(/^(\S.*?)\((\d+),\d+\): error TS\d+: (.*(?:\n {2}.*)*)/gm)].map(
    ([, file = "", line = "", message = ""]) => ({ file, line: Number(line), message })
  )

interface Outcome {
  readonly file: string
  readonly problems: ReadonlyArray<{ readonly line?: number | undefined; readonly message: string }>
  /** Line numbers of the claims that were reached. */
  readonly reached: ReadonlyArray<number>
}

const parseOutcome = (line: string): ReadonlyArray<Outcome> => {
  try {
    return line.startsWith('{"file"') ? [JSON.parse(line)] : []
  } catch {
    return []
  }
}

/** Runs the examples of one package in one process, using the package's sources. */
const runProblems = async (prepared: ReadonlyArray<Prepared>): Promise<ReadonlyArray<string>> => {
  const command = [process.execPath, "--conditions=@divisi/source", runner, ...prepared.map(({ file }) => file)]
  const { output } = await run(command, { cwd: root })
  const outcomes = new Map(
    output
      .split("\n")
      .flatMap(parseOutcome)
      .map((ending) => [ending.file, ending])
  )
  return prepared.flatMap(({ example, file, runnable }) => {
    const ending = outcomes.get(file)
    if (ending === undefined)
      return [`${example.file}:${example.line}: the example ended the process.\n${output.slice(-2000)}`]
    const missed = ending.problems.length > 0 ? [] : runnable.claims.filter((line) => !ending.reached.includes(line))
    return [
      ...ending.problems.map(({ line, message }) => `${example.file}:${line ?? example.line}: ${message}`),
      ...missed.map((line) => `${example.file}:${line}: the example never comes to this claim.`)
    ]
  })
}

const removeHome = (home: string) => {
  fs.rmSync(home, { recursive: true, force: true })
  try {
    fs.rmdirSync(path.dirname(home))
  } catch {
    // The folder contains the examples of another process.
  }
}

/** Type-checks and runs the given examples. Counts passed examples and claims. */
export const checkExamples = async (examples: ReadonlyArray<Example>): Promise<Report> => {
  const prepared = prepare(examples)
  const homes = new Set(prepared.map(({ file }) => path.dirname(file)))
  try {
    const faults = prepared.flatMap(({ example, runnable }) =>
      runnable.faults.map(({ line, message }) => `${example.file}:${line}: ${message}`)
    )
    const types = await typeProblems(prepared)
    const runs: Array<string> = []
    for (const home of homes) {
      const own = prepared.filter(({ example, file }) => example.isRun && path.dirname(file) === home)
      if (own.length > 0) runs.push(...(await runProblems(own)))
    }
    const problems = [...faults, ...types, ...runs]
    const right = prepared.filter(({ example: { code, file, line } }) => {
      const end = line + code.split("\n").length
      return !problems.some((problem) => {
        const at = /^(.*?):(\d+): /.exec(problem)
        return at !== null && at[1] === file && Number(at[2]) >= line && Number(at[2]) < end
      })
    })
    return { passed: right.reduce((sum, { runnable }) => sum + 1 + runnable.claims.length, 0), problems }
  } finally {
    for (const home of homes) removeHome(home)
  }
}

/** Checks all examples in the workspace, and all documented commands with output. */
export const check = async (): Promise<Report> => {
  const files = trackedFiles()
    .filter((file) => /\.(md|[mc]?[jt]s)$/.test(file))
    .map((file) => ({ file, text: fs.readFileSync(path.join(root, file), "utf8") }))
  const { examples, problems } = findExamples(files)
  const report = await checkExamples(examples)
  return { passed: report.passed, problems: [...problems, ...report.problems] }
}
