/**
 * Generates `questions.jsonl` from a fixed seed: `node src/draw.ts FOLDER`, where the folder contains the benchmark
 * files.
 */

import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { uniformInt } from "pure-rand/distribution/uniformInt"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"
import { easyPrograms } from "./easyPrograms.ts"
import type { Question } from "./Questions.ts"

const random = xoroshiro128plus(20_261_128)
const below = (limit: number): number => uniformInt(random, 0, limit - 1)

const shuffled = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> => {
  const all = [...items]
  for (let at = all.length - 1; at > 0; at--) {
    const other = below(at + 1)
    ;[all[at], all[other]] = [all[other]!, all[at]!]
  }
  return all
}

const sample = <A>(items: ReadonlyArray<A>, count: number): ReadonlyArray<A> => shuffled(items).slice(0, count)

const folder = process.argv[2]
if (folder === undefined) throw new Error("Name the folder with the benchmarks' files: node src/draw.ts FOLDER")

const rows = <A>(name: string): ReadonlyArray<A> =>
  fs
    .readFileSync(path.join(folder, name), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

const numbered = (kind: Question["kind"], all: ReadonlyArray<Omit<Question, "id" | "kind">>): ReadonlyArray<Question> =>
  all.map((one, index) => ({ id: `${kind}/${index}`, kind, ...one }))

const gsm8k = sample(rows<{ question: string; answer: string }>("gsm8k.test.jsonl"), 50).map(
  ({ answer, question }) => ({
    text: question,
    reference: answer.split("####").at(-1)!.replaceAll(",", "").trim()
  })
)

const math500 = sample(
  rows<{ problem: string; answer: string; level: number }>("math500.test.jsonl").filter(({ level }) => level <= 3),
  50
).map(({ answer, problem }) => ({ text: problem, reference: answer }))

/** Three to six terms of two to four digits, of which one is a product. */
const arithmetic = Array.from({ length: 50 }, () => {
  const terms = Array.from({ length: 3 + below(4) }, () => 10 + below(9990))
  const factor = 11 + below(89)
  const value = terms.slice(1).reduce((sum, term, index) => sum + (index % 2 === 0 ? term : -term), terms[0]! * factor)
  const rest = terms.slice(1).map((term, index) => `${index % 2 === 0 ? "+" : "-"} ${term}`)
  return { text: `What is ${terms[0]} * ${factor} ${rest.join(" ")}?`, reference: String(value) }
})

const lettered = (question: string, options: ReadonlyArray<string>, right: number) => ({
  text: `${question}\n\n${options.map((option, at) => `${"ABCD"[at]}) ${option}`).join("\n")}`,
  reference: "ABCD"[right]!
})

const mmlu = sample(
  rows<{ question: string; choices: ReadonlyArray<string>; answer: number }>("mmlu.test.sample570.jsonl"),
  100
).map(({ answer, choices, question }) => lettered(question, choices, answer))

const docsFolder = fileURLToPath(new URL("../../../docs", import.meta.url))

/** The names in code of the docs' tables with their descriptions, by page. */
const named = fs
  .globSync(["*.md", "reference/*.md"], { cwd: docsFolder })
  .sort()
  .flatMap((page) =>
    fs
      .readFileSync(path.join(docsFolder, page), "utf8")
      .split("\n")
      .flatMap((line) => {
        const [, name, description] = /^\| `([^`|]{2,60})`[^|]*\| ([^|]{25,250}) \|/.exec(line) ?? []
        return name === undefined || description === undefined ? [] : [{ page, name, description }]
      })
  )

const withOthers = named.filter(
  ({ name, page }) =>
    new Set(named.filter((one) => one.page === page && one.name !== name).map((one) => one.name)).size >= 3
)

const docs = sample(withOthers, 100).map(({ description, name, page }) => {
  const names = new Set(named.filter((one) => one.page === page && one.name !== name).map((one) => one.name))
  const options = shuffled([name, ...sample([...names], 3)])
  return lettered(
    `Which name has this description in Divisi's documentation? ${description}`,
    options.map((option) => `\`${option}\``),
    options.indexOf(name)
  )
})

const all = [
  ...numbered("gsm8k", gsm8k),
  ...numbered("math500", math500),
  ...numbered("programs", sample(easyPrograms, 50)),
  ...numbered("arithmetic", arithmetic),
  ...numbered("mmlu", mmlu),
  ...numbered("docs", docs)
]
fs.writeFileSync(
  fileURLToPath(new URL("../questions.jsonl", import.meta.url)),
  `${all.map((question) => JSON.stringify(question)).join("\n")}\n`
)
