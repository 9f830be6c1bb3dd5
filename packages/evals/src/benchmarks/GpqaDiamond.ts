/**
 * GPQA-Diamond: 198 multiple-choice questions in biology, chemistry and physics, written by experts.
 *
 * The authors ask that the questions not be published as plain text, so the benchmark is confidential: reports contain
 * only ids and hashes. The position of the correct option is derived from the seed and the record's id, so it is the
 * same in every process.
 */
import { Options as Tables } from "@divisi/core"
import * as Task from "@divisi/core/Task"
import { LetterGrader } from "@divisi/graders"
import { fraction } from "../internal/digest.ts"
import type { Graded } from "./Benchmark.ts"
import { ask, type ChoiceFormat, equalOptions, letterAt, letterReply } from "./choices.ts"
import * as Row from "./Row.ts"

/** The order of the options, and the answer format. */
export interface Options {
  /** The answer format: on the last line (default), or in tags as used for training in the paper. */
  readonly format?: ChoiceFormat | undefined
  /** Seed for the order of the options. Default: 42. */
  readonly seed?: number | undefined
}

const optionsOf = (row: Row.Row) =>
  ["Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3"].map((name) =>
    Row.text(row, name).trim()
  )

const table = {
  format: Tables.oneOf("line", "tags"),
  seed: Tables.whole(0)
} satisfies Tables.ShapeOf<Options>

/** Creates the benchmark. The hub requires a token from a user who has accepted the terms. */
export const make = (options: Options = {}): Graded => {
  Tables.check("GpqaDiamond.make", options, table)
  const { format = "line", seed = 42 } = options
  return {
    id: "gpqa-diamond",
    title: "GPQA-Diamond",
    source: {
      dataset: "Idavidrein/gpqa",
      revision: "refs/convert/parquet",
      files: ["gpqa_diamond/train/0000.parquet"]
    },
    licence: "CC-BY-4.0",
    terms: "Its authors ask not to reveal examples in plain text or images online.",
    isConfidential: true,
    isGated: true,
    stratum: "subject",
    prompt: `gpqa-diamond/${format}/1/seed-${seed}`,
    epochs: 4,
    grader: LetterGrader.make({ letters: "ABCD" }),
    exampleOf: (_, task) => letterReply(task.reference ?? "", format),
    oddityOf: (record) => equalOptions(optionsOf(record)),
    toTask: (record) => {
      const id = Row.text(record, "Record ID")
      const order = [0, 1, 2, 3].sort(
        (a, b) => fraction(String(seed), id, String(a)) - fraction(String(seed), id, String(b))
      )
      const texts = optionsOf(record)
      return Task.make({
        id: `gpqa-diamond/${id}`,
        question: ask(
          Row.text(record, "Question").trim(),
          order.map((index) => texts[index]!),
          format
        ),
        reference: letterAt(order.indexOf(0)),
        metadata: { subject: Row.optionalText(record, "High-level domain") ?? "", isConfidential: true }
      })
    }
  }
}
