/**
 * Policies that choose one worker per question: routers that learn from the records, and the reading Conductor.
 *
 * No policy is evaluated on questions that it learned from. For a question of a seen kind, the training set is the
 * other four fifths of the seen questions. For a question of an unseen kind, it is all seen questions.
 */

import { Embedder } from "@divisi/core"
import { conduct, worker } from "@divisi/core/promise"
import { Head, Outcomes, Router, Table } from "@divisi/policy-router"
import { reading } from "@divisi/policy-tiny"
import { Advantage } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { described } from "./Combined.ts"
import type { Answers, Chooser } from "./Policies.ts"
import { usdOf, usdPerMillion, workers } from "./Policies.ts"
import * as Questions from "./Questions.ts"

type Question = Questions.Question

const folds = 5

/**
 * The fold of a question of a seen kind; {@link folds} for other questions, whose choosers learn from all seen ones.
 */
const foldOf = ({ id, kind }: Question): number =>
  Questions.isSeen(kind) ? Number(id.split("/").at(-1)) % folds : folds

/** The questions with the records of all workers. */
type Known = ReadonlyArray<readonly [Question, Answers]>

const knownOf = (questions: ReadonlyArray<Question>, answersOf: ReadonlyMap<string, Answers>): Known =>
  questions.flatMap((question) => {
    const answers = answersOf.get(question.id)
    return answers !== undefined && workers.every((name) => answers.has(name)) ? [[question, answers] as const] : []
  })

/** The questions that may be learned from for a fold. */
const trainingOf = (known: Known, fold: number): Known =>
  known.filter(([question]) => Questions.isSeen(question.kind) && foldOf(question) !== fold)

/** With fewer questions, nothing is learned. */
const least = 10

const remembering = <A>(of: (fold: number) => A): ((fold: number) => A) => {
  const all = new Map<number, A>()
  return (fold) => {
    if (!all.has(fold)) all.set(fold, of(fold))
    return all.get(fold)!
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Routers
// -------------------------------------------------------------------------------------------------------------------

const embedder = Embedder.hashed()

const examplesOf = (known: Known): ReadonlyArray<Outcomes.Example> =>
  Effect.runSync(
    Outcomes.examples(
      known.map(([{ id, text }, answers]) => ({
        id,
        text,
        scores: new Map(workers.map((name) => [name, Number(answers.get(name)!.correct)])),
        costUsd: new Map(workers.map((name) => [name, usdOf(answers.get(name)!)])),
        answers: new Map(),
        at: 0
      })),
      embedder
    )
  )

type Learner = (examples: ReadonlyArray<Outcomes.Example>) => (point: Float32Array) => string

const byTable: Learner = (examples) => {
  const decide = Router.decider(Result.getOrThrow(Table.fit(examples)))
  return (point) => decide(point).worker
}

const byHead: Learner = (examples) => {
  const head = Result.getOrThrow(Head.fit(examples))
  return (point) => Head.decide(head, Head.place(head, point), Head.atStart).worker
}

/** The number of passes over the questions, and the size of a step. */
const grpo = { passes: 40, rate: 0.25 }

const softmax = (logits: ReadonlyArray<number>): ReadonlyArray<number> => {
  const most = Math.max(...logits)
  const exponentials = logits.map((logit) => Math.exp(logit - most))
  const sum = exponentials.reduce((total, one) => total + one, 0)
  return exponentials.map((one) => one / sum)
}

/**
 * A linear policy over the words of the question, trained by GRPO over the recorded outcomes. All workers' outcomes are
 * recorded, so a group has each worker once, weighted by its probability, instead of samples.
 */
const byGrpo: Learner = (examples) => {
  const names = workers
  const weights = names.map(() => new Float64Array(examples[0]!.point.length + 1))
  const inputOf = (point: Float32Array) => [...point, 1]
  const logitsOf = (input: ReadonlyArray<number>) =>
    weights.map((own) => input.reduce((sum, value, at) => sum + value * own[at]!, 0))
  const solved = examples.filter(({ scores }) => Math.max(...scores.values()) > 0)
  const groups = solved.map(({ costUsd, point, scores }) => {
    // Equal scores are decided by the price, which never outweighs a score.
    const dearest = Math.max(...costUsd.values())
    const rewards = names.map((name) => scores.get(name)! - (0.1 * costUsd.get(name)!) / dearest)
    const { advantages_G } = Advantage.ofGroup(rewards, { baseline: "group", divideByStd: true })
    return { input: inputOf(point), advantages_G }
  })
  for (let pass = 0; pass < grpo.passes; pass++) {
    for (const { advantages_G, input } of groups) {
      const probabilities = softmax(logitsOf(input))
      const expected = probabilities.reduce((sum, share, at) => sum + share * advantages_G[at]!, 0)
      for (const [at, own] of weights.entries()) {
        const slope = grpo.rate * probabilities[at]! * (advantages_G[at]! - expected)
        for (const [place, value] of input.entries()) own[place]! += slope * value
      }
    }
  }
  return (point) => {
    const logits = logitsOf(inputOf(point))
    return names[logits.indexOf(Math.max(...logits))]!
  }
}

const router = (name: string, known: Known, learn: Learner): Chooser => {
  const decideOf = remembering((fold) => {
    const training = trainingOf(known, fold)
    return training.length < least ? undefined : learn(examplesOf(training))
  })
  return {
    name,
    choose: (question) => decideOf(foldOf(question))?.(Effect.runSync(Embedder.ask(embedder, [question.text]))[0]!)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The reading Conductor
// -------------------------------------------------------------------------------------------------------------------

const topics: Readonly<Record<Questions.Kind, string>> = {
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

const poolOf = (recordOf: (name: string) => string) =>
  described.map(({ description, weights, worker: id }) => {
    const usd = (usdPerMillion * weights) / 1e9
    const pricing = { inputPerMillion: usd, outputPerMillion: usd }
    return worker({ id, description: `${description}${recordOf(id)}`, pricing, answer: () => "42" })
  })

const policy = reading()

/** The worker of the last step of its plan; `null` if it declines to plan. */
const lastWorker = async (text: string, pool: ReturnType<typeof poolOf>): Promise<string | null> => {
  const { transcript } = await conduct({ question: text, pool, policy })
  const last = transcript.rounds[0]?.workflow?.steps.at(-1)
  return last === undefined ? null : pool[last.worker]!.id
}

/** Reads all questions in advance, because its model is loaded and evaluated asynchronously. */
const reader = async (name: string, known: Known, poolFor: (fold: number) => ReturnType<typeof poolOf> | undefined) => {
  const choices = new Map<string, string | null>()
  for (const [question] of known) {
    const pool = poolFor(foldOf(question))
    if (pool !== undefined) choices.set(question.id, await lastWorker(question.text, pool))
  }
  return { name, choose: ({ id }: Question) => choices.get(id) }
}

/** All choosers, with what they have learned from these records. */
export const all = async (
  questions: ReadonlyArray<Question>,
  answersOf: ReadonlyMap<string, Answers>
): Promise<ReadonlyArray<Chooser>> => {
  const known = knownOf(questions, answersOf)
  const plain = poolOf(() => "")
  const recorded = remembering((fold) => {
    const training = trainingOf(known, fold)
    return training.length < least ? undefined : poolOf((name) => recordOf(training, name))
  })
  return [
    router("router: table", known, byTable),
    router("router: head", known, byHead),
    router("router: GRPO over recorded outcomes", known, byGrpo),
    await reader("reading Conductor's last worker, descriptions", known, () => plain),
    await reader("reading Conductor's last worker, records", known, recorded)
  ]
}
