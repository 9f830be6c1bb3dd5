/** The suites that the maths grader is measured on: cases of others, of our own, and what can be made of references. */
import fs from "node:fs"
import path from "node:path"

/** A gold answer, what somebody answered, and whether that is right. */
export interface Case {
  readonly gold: string
  readonly answer: string
  readonly expected: boolean
}

/** Cases under one name. */
export interface Suite {
  readonly name: string
  readonly cases: ReadonlyArray<Case>
}

const folder = new URL("../suites/", import.meta.url)

const readJson = (file: string) => JSON.parse(fs.readFileSync(new URL(file, folder), "utf8"))

const lines = (text: string): ReadonlyArray<Record<string, string>> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

/** The suites that are in this package. */
export const own = (): ReadonlyArray<Suite> => [
  {
    name: "pairs of our own",
    cases: lines(fs.readFileSync(new URL("math-pairs.jsonl", folder), "utf8")) as unknown as ReadonlyArray<Case>
  },
  {
    name: "classes of errors",
    cases: lines(fs.readFileSync(new URL("math-classes.jsonl", folder), "utf8")) as unknown as ReadonlyArray<Case>
  },
  { name: "hendrycks is_equiv", cases: readJson("hendrycks_is_equiv_cases.json") },
  {
    name: "inspect_ai math",
    cases: readJson("inspect_math_cases.json").map(
      ({ expected, output, target }: Record<string, string>): Case => ({
        gold: target!,
        answer: output!,
        expected: expected === "C"
      })
    )
  }
]

type Change = (gold: string) => string

/** Other spellings of the same. */
const rewrites: ReadonlyArray<Change> = [
  (gold) => `Let us see.\n\nSo we get $\\boxed{${gold}}$.`,
  (gold) => `The answer is $${gold}$.`,
  (gold) => `**Answer:** ${gold}`,
  (gold) => gold.replaceAll("\\frac", "\\dfrac"),
  (gold) => gold.replace(/(?<!\d\s*)\\frac\{(-?\d+)\}\{(\d+)\}/g, (_, top, bottom) => `(${top}/${bottom})`),
  (gold) => gold.replace(/(?<!\\text)\{(\d)\}/g, " $1"),
  (gold) => gold.replace(/([+=])/g, " $1 ").replace(/,\s*/g, ", "),
  (gold) =>
    gold.includes("\\left") ? gold : gold.replace(/\((?!\w\))/g, "\\left(").replace(/(?<!\(\w)\)/g, "\\right)"),
  (gold) => gold.replace(/\\text\{([^{}]*)\}/g, "\\mathrm{$1}"),
  (gold) => (/^-?\d+$/.test(gold) ? `${gold}.0` : gold),
  (gold) => (/^\d{4,}$/.test(gold) ? gold.replace(/\B(?=(?:\d{3})+$)/g, ",") : gold),
  (gold) => (/^-?\d+$/.test(gold) ? `\\frac{${BigInt(gold) * 6n}}{6}` : gold),
  (gold) => `${gold} `
]

const replaceNth = (text: string, pattern: RegExp, index: number, change: (match: string) => string): string => {
  let at = -1
  return text.replace(pattern, (match) => (++at === index ? change(match) : match))
}

const numbers = /(?<!\^\s*\{?\s*)\d+(?!\s*\}?\s*\\mbox)/g

/** Numbers that another digit makes ten times as great. */
const wholes = /(?<!\^\s*\{?\s*|\.\d*)[1-9]\d*(?![\d.]*\.\d|\s*\}?\s*\\mbox)/g

const withoutUnit = (text: string) => text.replace(/\\(?:mbox|text)\s*\{[^{}]*\}\^?\d?/g, "").trim()

/** Answers that are near the gold one, and wrong. */
const perturbations = (gold: string): ReadonlyArray<string> => {
  // "864 inches^2": the power of a unit is no part of the value.
  const value = withoutUnit(gold)
  if (value === "") return ["\\text{neither}", "7", `\\text{not ${gold.replace(/\\text\{|\}/g, "")}}`]
  const count = value.match(numbers)?.length ?? 0
  return [
    ...Array.from({ length: count }, (_, index) =>
      replaceNth(value, numbers, index, (match) => `${BigInt(match) + 1n}`)
    ),
    ...Array.from({ length: count }, (_, index) => replaceNth(value, wholes, index, (match) => `${match}0`)),
    /^[-\d.,\\!$ ]+$/.test(value) && !value.includes("-") && /[1-9]/.test(value) && !/,\s*-/.test(value)
      ? `-${value}`
      : "none",
    `${value} + 1`,
    "17.171717",
    ""
  ]
}

/** Whether a change left the value as it was, as `01` for `1` and `\frac{0}{10}` for `\frac{0}{1}` do. */
const isUnchanged = (gold: string, answer: string) => withoutUnit(gold) === withoutUnit(answer)

const madeOf = (name: string, golds: ReadonlyArray<string>): ReadonlyArray<Suite> => [
  { name: `${name} against itself`, cases: golds.map((gold) => ({ gold, answer: gold, expected: true })) },
  {
    name: `${name} rewritten`,
    cases: golds.flatMap((gold) =>
      [...new Set(rewrites.map((rewrite) => rewrite(gold)))]
        .filter((answer) => answer !== gold)
        .map((answer) => ({ gold, answer, expected: true }))
    )
  },
  {
    name: `${name} changed`,
    cases: golds.flatMap((gold) =>
      [...new Set(perturbations(gold))]
        .filter((answer) => !isUnchanged(gold, answer))
        .map((answer) => ({ gold, answer, expected: false }))
    )
  }
]

/** Suites made of the references of MATH500 and GSM8K in a folder. */
export const ofReferences = (data: string): ReadonlyArray<Suite> => {
  const read = (file: string) => lines(fs.readFileSync(path.join(data, file), "utf8"))
  return [
    ...madeOf(
      "MATH500",
      read("math500.test.jsonl").map(({ answer }) => answer!)
    ),
    ...madeOf(
      "GSM8K",
      read("gsm8k.test.jsonl").map(({ answer }) => answer!.split("####")[1]!.trim())
    )
  ]
}
