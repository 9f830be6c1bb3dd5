/**
 * Renders the results of an evaluation as Markdown and CSV tables, with one row per policy and one column per
 * benchmark, as in the paper.
 */
import type * as Data from "./evaluation/Evaluation.ts"
import { playMoney } from "./evaluation/Evaluation.ts"
import { coverage, failures, reasonsText } from "./evaluation/failures.ts"
import {
  count,
  counted,
  decimal,
  type Figure,
  inPercent,
  points,
  pValue,
  seconds,
  unknown,
  usd,
  withError
} from "./page/Numbers.ts"
import { visible } from "./page/Text.ts"

export { isPlay, playMoney } from "./evaluation/Evaluation.ts"
export { coverage, failures, folded, isSingle } from "./evaluation/failures.ts"

// By name: the declarations of a barrel take types that are handed on from another file for values.
export type Cell = Data.Cell
/** @internal */
export type Comparison = Data.Comparison
export type Evaluation = Data.Evaluation
export type Overall = Data.Overall
/** @internal */
export type Share = Data.Share
type EqualBudget = Data.EqualBudget

// -------------------------------------------------------------------------------------------------------------------
// Rows
// -------------------------------------------------------------------------------------------------------------------

/** A policy's results, with one cell per benchmark. */
export interface Row {
  readonly policy: string
  readonly cells: ReadonlyArray<Cell | undefined>
  readonly overall: Overall | undefined
}

/** Returns the rows of the main table, in the order of the evaluation's configuration. */
export const rows = ({ benchmarks, cells, config, overall }: Evaluation): ReadonlyArray<Row> =>
  config.policies.map(({ name }) => ({
    policy: name,
    cells: benchmarks.map(({ benchmark }) =>
      cells.find((cell) => cell.policy === name && cell.benchmark === benchmark)
    ),
    overall: overall.find(({ policy }) => policy === name)
  }))

// -------------------------------------------------------------------------------------------------------------------
// Markdown
// -------------------------------------------------------------------------------------------------------------------

/** Escapes text for a cell of a Markdown table. */
const inCell = (text: string): string =>
  visible(text)
    .replace(/\s+/g, " ")
    .replace(/[\\|`*_[\]<>&]/g, (character) => `&#${character.codePointAt(0)};`)

const line = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

/** Formats a Markdown table. All columns except the first contain numbers. */
const table = (head: ReadonlyArray<string>, body: ReadonlyArray<ReadonlyArray<string>>): string =>
  [line(head), line(head.map((_, index) => (index === 0 ? "---" : "--:"))), ...body.map(line)].join("\n")

const bestOf = (figures: ReadonlyArray<Figure>): number =>
  Math.max(...figures.map((figure) => figure ?? Number.NEGATIVE_INFINITY))

/** Formats a score. The best score in a column is bold, unless it covers only some of the samples. */
const scoreText = (mean: Figure, error: Figure, mark: string, best: number): string => {
  const text = `${withError(mean, error)}${mark}`
  return mean === best && mark === "" ? `**${text}**` : text
}

const mainTable = (evaluation: Evaluation): string => {
  const all = rows(evaluation)
  const markOf = (...cells: ReadonlyArray<Cell | undefined>) => coverage(evaluation, cells)
  const best = evaluation.benchmarks.map((_, at) =>
    bestOf(all.map(({ cells }) => (markOf(cells[at]) === "" ? cells[at]?.score.mean : null)))
  )
  const bestOverall = bestOf(all.map(({ cells, overall }) => (markOf(...cells) === "" ? overall?.mean : null)))
  const hasMean = evaluation.benchmarks.length > 1
  const titles = evaluation.benchmarks.map(({ title }) => inCell(title))
  return table(
    ["policy", ...titles, ...(hasMean ? ["mean"] : []), "tokens", "USD per question", "time", "steps", "missing"],
    all.map(({ cells, overall, policy }) => [
      inCell(policy),
      ...cells.map((cell, at) => scoreText(cell?.score.mean, cell?.score.standardError, markOf(cell), best[at]!)),
      ...(hasMean ? [scoreText(overall?.mean, overall?.standardError, markOf(...cells), bestOverall)] : []),
      count(overall?.tokens),
      usd(overall?.costUsd),
      seconds(overall?.millis),
      decimal(overall?.steps),
      count(overall?.missing)
    ])
  )
}

const comparisonTable = ({ comparisons }: Evaluation): string =>
  table(
    ["policy", "against", "benchmark", "difference", "interval", "p (Holm)", "better", "worse", "detectable"],
    comparisons.map((one) => [
      inCell(one.policy),
      inCell(one.against),
      inCell(one.benchmark),
      points(one.mean),
      one.low === null ? unknown : `${points(one.low)} to ${points(one.high)}`,
      pValue(one.pAdjusted),
      count(one.better),
      count(one.worse),
      inPercent(one.minimumDetectable)
    ])
  )

/** Formats a number of answers: an integer, or with one decimal. */
const answersOf = (votes: number): string => (Number.isInteger(votes) ? `${votes}` : votes.toFixed(1))

const opponentOf = ({ votes, worker }: EqualBudget): string =>
  votes === 1
    ? `a single answer by ${worker}`
    : Number.isInteger(votes)
      ? `the most frequent of ${votes} answers by ${worker}`
      : `majority votes of ${answersOf(votes)} answers by ${worker} on average`

/** Budgets that differ by at most this number of answers are equal. */
const tolerance = 0.05

/** Returns one sentence for a verdict; `place` names the benchmark if there are several. */
const verdictOf = (one: EqualBudget, place: string): string => {
  const { high, low, margin = 0, mean, minimumDetectable, paid, policy, questions, verdict, votes, worker } = one
  const difference = `${points(mean)} points (${points(low)} to ${points(high)}) compared with ${opponentOf(one)}`
  const isFewer = paid < votes - tolerance
  const isMore = paid > votes + tolerance
  if (verdict === "worth-it") {
    return `${policy} is worth it${place} ${isFewer ? "with fewer" : "at equal"} tokens: ${difference}.`
  }
  if (verdict === "not-worth-it") {
    const isTie = margin > 0 && (high ?? -1) >= 0
    const tie = isTie ? `; a gain of ${inPercent(margin)} points or more is excluded` : ""
    return `${policy} is not worth it${place} ${isMore ? "even with more" : "at equal"} tokens: ${difference}${tie}.`
  }
  if (questions === 0) return `No verdict for ${policy}${place}: it and ${worker} have no answered questions in common.`
  if (isMore) {
    const needed = Math.ceil(paid - tolerance)
    return `${policy} cannot be compared${place} at equal tokens: for its tokens, ${worker} could give ${answersOf(paid)} answers per question, but the evaluation has only ${answersOf(votes)}. Run divisi eval with --samples ${needed}, or with --baselines self-consistency:${needed}@${worker}.`
  }
  if (isFewer && (high ?? 1) < margin) {
    const tokens = count(one.workerTokens && votes * one.workerTokens)
    return `No verdict for ${policy}${place}: ${difference}, which needs ${tokens} output tokens per question instead of ${count(one.tokens)}.`
  }
  const least =
    minimumDetectable === null
      ? ""
      : ` This comparison detects differences of ${inPercent(minimumDetectable)} points with 80% power.`
  const few = `${counted(questions, "question")} ${questions === 1 ? "is" : "are"} too few`
  return `${few} to tell whether ${policy} is worth it${place}: ${difference}.${least}`
}

/** Returns the verdicts at equal token budgets, one sentence per policy and benchmark. */
export const verdicts = (evaluation: Evaluation): ReadonlyArray<string> =>
  (evaluation.equalBudget ?? []).map((one) =>
    verdictOf(one, evaluation.benchmarks.length > 1 ? ` on ${one.benchmark}` : "")
  )

const equalBudget = (evaluation: Evaluation): ReadonlyArray<string> => {
  const sentences = verdicts(evaluation)
  return sentences.length === 0
    ? []
    : ["## Verdict at equal tokens", sentences.map((sentence) => `- ${inCell(sentence)}`).join("\n")]
}

const notes = (evaluation: Evaluation): string => {
  const { benchmarks, config, extent } = evaluation
  const questions = benchmarks.map(({ selected, title }) => `${count(selected)} of ${inCell(title)}`).join(", ")
  const state = extent.status === "complete" ? "complete" : `stopped after ${count(extent.samples)} samples`
  return [
    `${questions}; ${config.epochs} ${config.epochs === 1 ? "answer" : "answers"} each; seed ${config.seed}; ${state}.`,
    "Scores in percent ± standard error, clustered by question; unreadable answers count as wrong, and samples lost to infrastructure failures are missing. Tokens, USD and time are means per question.",
    playMoney(evaluation)
  ]
    .filter((sentence) => sentence !== undefined)
    .join(" ")
}

/**
 * Renders the evaluation as Markdown: the main table and the differences between policies.
 *
 * **Details**
 *
 * The best score in each column is bold, among those that cover all samples. Names are escaped so that they cannot break the table.
 */
export const markdown = (evaluation: Evaluation): string =>
  `${[
    "## Scores",
    mainTable(evaluation),
    notes(evaluation),
    ...(failures(evaluation).length === 0
      ? []
      : [
          failures(evaluation)
            .map((sentence) => `- ${inCell(sentence)}.`)
            .join("\n")
        ]),
    ...(evaluation.comparisons.length === 0 ? [] : ["## Differences, in points", comparisonTable(evaluation)]),
    ...equalBudget(evaluation)
  ].join("\n\n")}\n`

// -------------------------------------------------------------------------------------------------------------------
// CSV
// -------------------------------------------------------------------------------------------------------------------

/** Prefixes text that a spreadsheet would interpret as a formula with an apostrophe. */
const unlikeFormula = (text: string): string => (/^\s*[=+\-@＝＋－＠]|^\t/.test(text) ? `'${text}` : text)

/** Formats a CSV field (RFC 4180). */
const field = (value: string | number | null | undefined): string => {
  if (value === null || value === undefined) return ""
  const text = typeof value === "string" ? unlikeFormula(visible(value)) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const columns = {
  policy: ({ policy }: Cell) => policy,
  benchmark: ({ benchmark }: Cell) => benchmark,
  score: ({ score }: Cell) => score.mean,
  standard_error: ({ score }: Cell) => score.standardError,
  low: ({ score }: Cell) => score.low,
  high: ({ score }: Cell) => score.high,
  confidence: ({ score }: Cell) => score.confidence,
  questions: ({ score }: Cell) => score.questions,
  samples: ({ score }: Cell) => score.samples,
  correct: ({ score }: Cell) => score.correct,
  unparsed: ({ score }: Cell) => score.unparsed,
  unanswered: ({ score }: Cell) => score.unanswered,
  unanswered_reasons: ({ score }: Cell) => reasonsText(score.unanswered ?? 0, score.unansweredReasons ?? []),
  missing: ({ score }: Cell) => score.missing,
  missing_reasons: ({ score }: Cell) => reasonsText(score.missing, score.missingReasons ?? []),
  minimum_detectable: ({ score }: Cell) => score.minimumDetectable,
  cost_usd_mean: ({ costUsd }: Cell) => costUsd.mean,
  cost_usd_total: ({ costUsd }: Cell) => costUsd.total,
  unpriced_calls: ({ unpricedCalls }: Cell) => unpricedCalls,
  input_tokens_mean: ({ inputTokens }: Cell) => inputTokens.mean,
  output_tokens_mean: ({ outputTokens }: Cell) => outputTokens.mean,
  milliseconds_median: ({ millis }: Cell) => millis.median,
  milliseconds_p99: ({ millis }: Cell) => millis.p99,
  calls_mean: ({ calls }: Cell) => calls.mean,
  failed_calls: ({ failedCalls }: Cell) => failedCalls,
  steps_mean: ({ steps }: Cell) => steps.mean
}

/**
 * Renders the evaluation as CSV, with one line per policy and benchmark. Fractions range from 0 to 1; unknown values
 * are empty.
 */
export const csv = ({ cells }: Evaluation): string =>
  `${[
    Object.keys(columns).join(","),
    ...cells.map((cell) =>
      Object.values(columns)
        .map((column) => field(column(cell)))
        .join(",")
    )
  ].join("\r\n")}\r\n`
