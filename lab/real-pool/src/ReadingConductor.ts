/**
 * The reading Conductor as a chooser: with the workers' descriptions, with their records, and with a head that is
 * trained by GRPO over the recorded outcomes.
 *
 * It cuts a question into parts; only the worker of its last step is replayed.
 */

import { WorkflowText } from "@divisi/core"
import { ReadingPolicy, ReadingText } from "@divisi/policy-tiny"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import { AdamW } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { described } from "./Combined.ts"
import { foldOf, type Known, perFold, trainingOf } from "./Folds.ts"
import * as Grpo from "./Grpo.ts"
import { type Chooser, usdPerMillion } from "./Policies.ts"
import type { Kind } from "./Questions.ts"

// -------------------------------------------------------------------------------------------------------------------
// The pool
// -------------------------------------------------------------------------------------------------------------------

const topics: Readonly<Record<Kind, string>> = {
  gsm8k: "word problems",
  math500: "algebra",
  programs: "programs",
  arithmetic: "arithmetic",
  mmlu: "knowledge",
  docs: "documentation"
}

/** The record of a worker, in the wording that the reading Conductor was trained with. */
const recordOf = (training: Known, name: string): string => {
  const byKind = Map.groupBy(training, ([{ kind }]) => kind)
  const parts = [...byKind].map(([kind, some]) => {
    const right = some.filter(([, answers]) => answers.get(name)!.correct).length
    const share = right / some.length
    return `${topics[kind]} ${right}/${some.length} ${share >= 0.7 ? "high" : share <= 0.4 ? "low" : "middling"}`
  })
  return `\nRecord: ${parts.join(", ")}.`
}

type Pool = ReadonlyArray<ReadingText.Colleague>

const poolOf = (recordOf: (name: string) => string): Pool =>
  described.map(({ description, weights, worker }) => ({
    description: `${description}${recordOf(worker)}`,
    pricing: { outputPerMillion: (usdPerMillion * weights) / 1e9 }
  }))

const withoutRecords = poolOf(() => "")
const withRecords = (training: Known) => poolOf((name) => recordOf(training, name))

// -------------------------------------------------------------------------------------------------------------------
// Training
// -------------------------------------------------------------------------------------------------------------------

/** Reads a question and the descriptions of a pool. */
type Read = ReturnType<typeof ReadingPolicy.read>

/** The number of passes over the questions, and the learning rate: the best of 20 settings on the seen kinds. */
const grpo = { passes: 100, learningRate: 0.03 }

/**
 * Trains the head by GRPO: each question is a group with each worker once, and with declining, which counts as the most
 * expensive wrong answer. Each question's pool has the records of the other folds, as in the evaluation.
 */
const trained = (head: ChoiceHead.Weights, read: Read, training: Known): ChoiceHead.Weights => {
  const poolFor = perFold((fold) => withRecords(training.filter(([question]) => foldOf(question) !== fold)))
  const groups = Grpo.groupsOf(training).map(({ advantages_G, question }) => {
    const team = read(question.text, { workers: poolFor(foldOf(question)) }).at(-1)!
    return { team, advantages_G: [...advantages_G, Math.min(...advantages_G)] }
  })
  // No checks are recorded.
  const weights = ChoiceHead.withoutChecks(head)
  const [first, second] = [new Float64Array(weights.length), new Float64Array(weights.length)]
  for (let pass = 1; pass <= grpo.passes; pass++) {
    const gradient = new Float64Array(weights.length)
    for (const { advantages_G, team } of groups) {
      const shares = ChoiceHead.odds(weights, team).worker.map(Math.exp)
      const slopes = Grpo.slopesOf(shares, advantages_G)
      const wanted = shares.map((share, at) => share + slopes[at]!)
      ChoiceHead.addGradient(gradient, weights, team, { worker: wanted }, -1 / groups.length)
    }
    AdamW.update([{ weights, first, second, gradient }], pass, { learningRate: grpo.learningRate, maxGradientNorm: 1 })
  }
  return weights
}

// -------------------------------------------------------------------------------------------------------------------
// Choosers
// -------------------------------------------------------------------------------------------------------------------

/** A pool, and the head that chooses in it. */
interface Reading {
  readonly pool: Pool
  readonly head: ChoiceHead.Weights
}

const maxSteps = 5

/** The text of the plan with the most likely choices. */
const planOf = (question: string, { head, pool }: Reading, read: Read): string => {
  const asked = { question, workers: pool, failed: [], maxSteps, isAnswered: false }
  const pieces = ReadingText.write(head, asked, read(question, asked))
  let text = ""
  for (let next = pieces.next(0); next.done !== true; ) {
    const piece = next.value
    const chosen = piece.type === "choice" ? ChoiceHead.greatest(piece.logProbs) : 0
    text += piece.type === "choice" ? piece.texts[chosen]! : piece.text
    next = pieces.next(chosen)
  }
  return text
}

/** The worker of the last step of its plan; `null` if it declines to plan. */
const lastWorker = (question: string, reading: Reading, read: Read): string | null => {
  const plan = WorkflowText.read(planOf(question, reading, read), { poolSize: reading.pool.length })
  return Result.isFailure(plan) ? null : described[plan.success.workflow.steps.at(-1)!.worker]!.worker
}

/** The reading Conductor in its three forms. */
export const all = async (known: Known): Promise<ReadonlyArray<Chooser>> => {
  const { head, readers } = await Effect.runPromise(ReadingPolicy.load())
  const read = ReadingPolicy.read(readers)
  const chooser = (name: string, readingOf: (fold: number) => Reading | undefined): Chooser => {
    const readingFor = perFold(readingOf)
    return {
      name: `reading Conductor's last worker, ${name}`,
      choose: (question) => {
        const reading = readingFor(foldOf(question))
        return reading && lastWorker(question.text, reading, read)
      }
    }
  }
  const learned = (headOf: (training: Known) => ChoiceHead.Weights) => (fold: number) => {
    const training = trainingOf(known, fold)
    return training && { pool: withRecords(training), head: headOf(training) }
  }
  return [
    chooser("descriptions", () => ({ pool: withoutRecords, head })),
    chooser(
      "records",
      learned(() => head)
    ),
    chooser(
      "records, head trained by GRPO over recorded outcomes",
      learned((training) => trained(head, read, training))
    )
  ]
}
