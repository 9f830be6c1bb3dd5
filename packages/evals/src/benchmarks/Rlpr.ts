/** RLPR: web questions from many fields, with short reference answers. */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { RlprGrader } from "@divisi/graders/math"
import { fraction, short } from "../internal/digest.ts"
import type { Graded } from "./Benchmark.ts"
import * as Row from "./Row.ts"

/**
 * The splits of the file, divided by question into 60, 20 and 20 %, as in the paper's supplement. By default, training
 * uses the first and evaluation the last one, so no question is in both.
 */
export const splits = ["test", "validation", "train", "all"] as const

/** One of {@link splits}. */
export type Split = (typeof splits)[number]

const splitOf = (question: string): Split => {
  const at = fraction("rlpr/split", question)
  return at < 0.6 ? "train" : at < 0.8 ? "validation" : "test"
}

/** The split, the grading rule, and the references to include. */
export interface Options {
  /** The split to load. Default: `test`. */
  readonly split?: Split | undefined
  /**
   * The grading rule. Default: `strict`. `paper` is the more lenient rule that published figures are probably based on.
   * Report results for both.
   */
  readonly rule?: "strict" | "paper" | undefined
  /**
   * Maximum length of a reference in characters. Default: 30. Longer references are excluded, because they cannot be
   * graded by rules.
   */
  readonly maxReferenceLength?: number | undefined
}

const guidelines = [
  "Answer the question. Reason in <think> tags, then give the final answer, and nothing else, in <answer> tags.",
  "- Give percentages as decimals, and sums of money as plain numbers.",
  "- Prefer decimals to powers of ten, and two to four significant digits to more.",
  "- Write formulas in their usual notation.",
  "- Name a unit only where the question asks for one."
].join("\n")

const userMessage = (row: Row.Row): string => {
  const message = Row.list(row, "prompt").find((one) => one.role === "user")
  if (message === undefined) throw new Row.RowError('field "prompt" has no user message')
  return Row.text(message, "content").trim()
}

const table = {
  split: Tables.oneOf(...splits),
  rule: Tables.oneOf("strict", "paper"),
  maxReferenceLength: Tables.whole(0)
} satisfies Tables.ShapeOf<Options>

/**
 * Creates the benchmark. The system message in the records is not sent; instead, the prompt asks for the answer tags.
 */
export const make = (options: Options = {}): Graded => {
  Tables.check("Rlpr.make", options, table)
  const { maxReferenceLength = 30, rule = "strict", split = "test" } = options
  return {
    id: `rlpr-${rule}`,
    title: `RLPR (${rule} rule${split === "all" ? "" : `, ${split} split`})`,
    source: { dataset: "openbmb/RLPR-Train-Dataset", files: ["rlpr_train.parquet"] },
    licence: "CC-BY-NC-4.0",
    terms: "Non-commercial use only.",
    stratum: "subject",
    prompt: `rlpr/${split}/1`,
    grader: rule === "paper" ? RlprGrader.makePaper({ needsTags: true }) : RlprGrader.makeStrict(),
    exampleOf: (_, { reference }) => `<answer>${reference}</answer>`,
    ...(split === "train" || split === "all" ? {} : { examplesFrom: make({ ...options, split: "train" }) }),
    toTask: (record) => {
      const reference = Row.text(Row.nested(record, "reward_model"), "ground_truth").trim()
      if (reference === "" || reference.length > maxReferenceLength) return undefined
      const question = userMessage(record)
      if (split !== "all" && splitOf(question) !== split) return undefined
      const subject = Row.optionalText(record, "ability") ?? ""
      return Task.make({
        id: `rlpr/${short(question, reference)}`,
        question: `${subject === "" ? "" : `Subject: ${subject}\n`}${guidelines}\n\n${question}`,
        reference,
        metadata: { subject }
      })
    }
  }
}
