/**
 * Measures installation sizes: every package in this workspace, installed from its tarball, and alternatives to it,
 * each installed with npm into an empty folder. Prints JSON. `--write` also updates the tables on a page.
 *
 *     pnpm build && node scripts/weigh.ts [--rounds 3] [--write docs/installation-size.md]
 */
import fs from "node:fs"
import os from "node:os"
import { inProject, install, type Tree, treeOf } from "./checks/installed.ts"
import { pack, tarballsOf } from "./checks/tarballs.ts"

/** An installation: its content, and how long it took with a warm cache. */
interface Weighed extends Tree {
  readonly name: string
  /** Duration in seconds. The median if it was repeated. */
  readonly seconds?: number | undefined
}

const argument = (name: string): string | undefined => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? undefined : process.argv[at + 1]
}

const rounds = Number(argument("rounds") ?? 3)

/** Installations to compare: for a first run from the command line or from code, and of alternatives. */
const compared: Readonly<Record<string, ReadonlyArray<string>>> = {
  "Divisi: core and one vendor": ["@divisi/core", "@divisi/providers-openai"],
  "Divisi: the command line": ["@divisi/cli"],
  "AI SDK and one vendor": ["ai", "@ai-sdk/openai"],
  "LangGraph and one vendor": ["@langchain/langgraph", "@langchain/core", "@langchain/openai"],
  "Mastra and one vendor": ["@mastra/core", "@ai-sdk/openai"]
}

const once = (packages: ReadonlyArray<string>) =>
  inProject(async (folder) => {
    const start = performance.now()
    const { code, output } = await install(folder, packages)
    if (code !== 0) throw new Error(`npm install ${packages.join(" ")} failed:\n${output}`)
    return { ...treeOf(folder), seconds: (performance.now() - start) / 1000 }
  })

/** Converts package names in this workspace to tarballs, including their dependencies. */
const sourcesOf = (packages: ReadonlyArray<string>) =>
  packages.flatMap((name) => (name.startsWith("@divisi/") ? tarballsOf([name]) : [name]))

/**
 * Measures the installations in turn, round after round, so that changes in the machine's load affect all of them
 * equally.
 */
const weigh = async (
  installations: Readonly<Record<string, ReadonlyArray<string>>>,
  times: number
): Promise<ReadonlyArray<Weighed>> => {
  const found = new Map<string, { readonly tree: Tree; readonly seconds: Array<number> }>()
  // Round 0 fills the cache.
  for (let round = 0; round <= times; round++) {
    for (const [name, packages] of Object.entries(installations)) {
      process.stderr.write(`${round}: ${name}\n`)
      const { seconds, ...tree } = await once([...new Set(sourcesOf(packages))])
      const one = found.get(name) ?? { tree, seconds: [] }
      found.set(name, one)
      if (round > 0) one.seconds.push(seconds)
    }
  }
  return [...found].map(([name, { seconds, tree }]) => {
    const median = seconds.toSorted((left, right) => left - right)[times >> 1]
    return { name, ...tree, seconds: median === undefined ? undefined : Math.round(median * 10) / 10 }
  })
}

const tableOf = (rows: ReadonlyArray<Weighed>): string => {
  const isTimed = rows.some(({ seconds }) => seconds !== undefined)
  const cells = ({ bytes, name, others, packages, scripted, seconds }: Weighed) => [
    name.startsWith("@divisi/") ? `\`${name}\`` : name,
    String(packages),
    String(others),
    String(Math.round(bytes / 1e6)),
    scripted.length === 0 ? "none" : scripted.join(", "),
    ...(isTimed ? [String(seconds)] : [])
  ]
  const head = ["", "packages", "third-party", "MB", "install scripts", ...(isTimed ? ["seconds"] : [])]
  const lines = [head, head.map((_, at) => (at === 0 || at === 4 ? "---" : "---:")), ...rows.map(cells)]
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n")
}

/** Replaces the text between two marks on a page. */
const replaced = (page: string, mark: string, text: string): string => {
  const [start, end] = [`<!-- ${mark} -->`, `<!-- /${mark} -->`]
  const [from, to] = [page.indexOf(start), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`The page has no ${start} … ${end}.`)
  return `${page.slice(0, from + start.length)}\n\n${text}\n\n${page.slice(to)}`
}

const members = await pack()
const others = await weigh(compared, rounds)
const own = await weigh(Object.fromEntries(members.map(({ manifest: { name } }) => [name, [name]])), 0)
const about = { date: new Date().toISOString().slice(0, 10), node: process.version, cores: os.cpus().length, rounds }
process.stdout.write(`${JSON.stringify({ ...about, others, own }, null, 2)}\n`)

const page = argument("write")
if (page !== undefined) {
  const text = fs.readFileSync(page, "utf8")
  fs.writeFileSync(page, replaced(replaced(text, "compared", tableOf(others)), "own", tableOf(own)))
}
