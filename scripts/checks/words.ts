/**
 * Checks for plain English: idioms, sentences that begin with a free relative ("What …", "Who …", "Where …"), and
 * sentences with more than 35 words in guides. Covers comments, docstrings, pages outside `docs/lab`, strings, test
 * names and changesets. `words.json` contains the maximum number for each package or page, which can only decrease:
 *
 *     node scripts/checks/words.ts --write         lowers the ceilings to the present counts
 *     node scripts/checks/words.ts --list [KEY]    lists the faults, of a package or a page
 */
import { execFileSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { root } from "../setup/workspace.mjs"
import { type Fault, faultsOf } from "../words/Idiom.ts"
import * as Prose from "../words/Prose.ts"
import type { Report } from "./Report.ts"

interface Counts {
  readonly idiom: number
  readonly relative: number
  readonly long: number
}

interface Finding extends Fault {
  readonly file: string
  readonly line: number
  readonly sentence: string
}

interface Reading {
  readonly sentences: number
  readonly findings: ReadonlyArray<Finding>
}

const ceilingsFile = path.join(import.meta.dirname, "words.json")
const none: Counts = { idiom: 0, relative: 0, long: 0 }
const kinds = ["idiom", "relative", "long"] as const

/** Whether the strings in a file are data: tasks, prompts, vendors' messages, or terms that the code searches for. */
const isData =
  /^lab\/|^packages\/(?:gym|graders|policy-tiny|policy-lexical|gguf|testkit)\/|^packages\/core\/src\/(?:policy|text)\/prompt|^scripts\/(?:words|test)\//

const isPage = (file: string): boolean => file.endsWith(".md")
const isProgram = (file: string): boolean => /\.[mc]?[jt]s$/.test(file)
const isLab = (file: string): boolean => /^docs\/(lab|evals-example)\//.test(file) || file.endsWith("CHANGELOG.md")
const isGuide = (file: string): boolean => isPage(file) && !/^(?:docs\/decisions\/|\.changeset\/)/.test(file)

/** Returns the key for a file: the page itself, or the folder of a program or changeset. */
const keyOf = (file: string): string => {
  if (file.startsWith(".changeset/")) return ".changeset"
  if (isPage(file)) return file
  const [first = "", second = ""] = file.split("/")
  if (!file.includes("/")) return "."
  return ["packages", "verify", "lab"].includes(first) ? `${first}/${second}` : first
}

const passagesOf = (file: string, text: string): ReadonlyArray<Prose.Passage> => {
  if (isPage(file)) return Prose.ofMarkdown(text)
  const tokens = Prose.tokens(text)
  const isTest = file.includes("/test/")
  const strings = isTest || isData.test(file) ? [] : Prose.ofStrings(tokens)
  return [...Prose.ofComments(tokens), ...strings, ...(isTest ? Prose.ofTests(tokens) : [])]
}

/** Checks one file. */
export const read = (file: string, text: string): Reading => {
  const sentences = passagesOf(file, text).flatMap(Prose.sentences)
  const findings = sentences.flatMap(({ isHeading, line, text: sentence }) =>
    faultsOf(sentence, { isHeading, isGuide: isGuide(file) }).map((fault) => ({ ...fault, file, line, sentence }))
  )
  return { sentences: sentences.length, findings }
}

const git = (...args: ReadonlyArray<string>): string =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 })

const files = (): ReadonlyArray<string> =>
  git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    .split("\0")
    .filter((file) => (isPage(file) || isProgram(file)) && !isLab(file) && fs.existsSync(path.join(root, file)))

const readAll = (): ReadonlyMap<string, Reading> => {
  const readings = new Map<string, Reading>()
  for (const file of files()) {
    const text = fs.readFileSync(path.join(root, file), "utf8")
    // Generated files are not prose, and their lines may be very long.
    if (/^\/[/*]+ @generated|eslint-disable \*\//.test(text) || text.length > 1_000_000) continue
    const key = keyOf(file)
    const { findings, sentences } = read(file, text)
    const before = readings.get(key) ?? { sentences: 0, findings: [] }
    readings.set(key, {
      sentences: before.sentences + sentences,
      findings: findings.length === 0 ? before.findings : [...before.findings, ...findings]
    })
  }
  return readings
}

const countsOf = (findings: ReadonlyArray<Finding>): Counts => {
  const count = (kind: Fault["kind"]) => findings.filter((finding) => finding.kind === kind).length
  return { idiom: count("idiom"), relative: count("relative"), long: count("long") }
}

const ceilings = (): Readonly<Record<string, Counts>> => JSON.parse(fs.readFileSync(ceilingsFile, "utf8"))

/** Returns the lines added since the ceilings were last written, as `file:line`. */
const addedLines = (key: string): ReadonlySet<string> => {
  const added = new Set<string>()
  const written = git("log", "-1", "--format=%H", "--", path.relative(root, ceilingsFile)).trim()
  if (written === "") return added
  const diff = git("diff", "--unified=0", "--no-color", "--no-prefix", "-M", written, "--", key === "." ? "*" : key)
  let file = ""
  for (const line of diff.split("\n")) {
    if (line.startsWith("+++ ")) file = line.slice(4)
    const hunk = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (hunk === null) continue
    const [from, count] = [Number(hunk[1]), Number(hunk[2] ?? 1)]
    for (let at = from; at < from + count; at++) added.add(`${file}:${at}`)
  }
  return added
}

const said = ({ file, found, instead, line, sentence }: Finding): string =>
  `${file}:${line}: "${found}" in "${sentence.slice(0, 160)}". Use: ${instead}.`

/** Returns the findings of a key beyond its ceiling: those on new lines, or otherwise the first ones. */
export const problemsOf = (key: string, findings: ReadonlyArray<Finding>, ceiling: Counts): ReadonlyArray<string> => {
  const counts = countsOf(findings)
  const exceeded = kinds.filter((kind) => counts[kind] > ceiling[kind])
  if (exceeded.length === 0) return []
  const added = addedLines(key)
  return exceeded.flatMap((kind) => {
    const own = findings.filter((finding) => finding.kind === kind)
    const fresh = own.filter(({ file, line }) => added.has(`${file}:${line}`))
    const shown = fresh.length > 0 ? fresh : own
    const beyond = counts[kind] - ceiling[kind]
    const listed = shown.slice(0, Math.max(beyond, 5)).map((finding) => `  ${said(finding)}`)
    return [[`${key}: ${counts[kind]} of kind "${kind}", ${beyond} more than allowed. Rewrite:`, ...listed].join("\n")]
  })
}

/** Compares the repository with the ceilings. */
export const check = (): Report => {
  const allowed = ceilings()
  const readings = readAll()
  const problems = [...readings].map(([key, { findings }]) => problemsOf(key, findings, allowed[key] ?? none))
  return { passed: problems.filter(({ length }) => length === 0).length, problems: problems.flat() }
}

/** Lowers ceilings to the current counts. A package or page without a ceiling receives one. */
const write = (readings: ReadonlyMap<string, Reading>) => {
  const before = fs.existsSync(ceilingsFile) ? ceilings() : {}
  const lowered = [...readings].map(([key, { findings }]): readonly [string, Counts] => {
    const counts = countsOf(findings)
    const then = before[key] ?? counts
    const least = (kind: (typeof kinds)[number]) => Math.min(counts[kind], then[kind])
    return [key, { idiom: least("idiom"), relative: least("relative"), long: least("long") }]
  })
  const lines = lowered
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, { idiom, long, relative }]) => {
      return `  ${JSON.stringify(key)}: { "idiom": ${idiom}, "relative": ${relative}, "long": ${long} }`
    })
  fs.writeFileSync(ceilingsFile, `{\n${lines.join(",\n")}\n}\n`)
}

const summary = (readings: ReadonlyMap<string, Reading>): string => {
  const all = [...readings.values()]
  const sentences = all.reduce((sum, reading) => sum + reading.sentences, 0)
  const counts = countsOf(all.flatMap(({ findings }) => findings))
  const share = (count: number) => `${count} (${((100 * count) / sentences).toFixed(2)} %)`
  const { idiom, long, relative } = counts
  return `${sentences} sentences: idiom ${share(idiom)}, free relatives ${share(relative)}, long sentences in guides ${long}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const readings = readAll()
  const [option, wanted] = process.argv.slice(2)
  if (option === "--write") write(readings)
  if (option === "--list") {
    for (const [key, { findings }] of readings) {
      if (wanted === undefined || key === wanted) for (const one of findings) process.stdout.write(`${said(one)}\n`)
    }
  }
  process.stdout.write(`${summary(readings)}\n`)
}
