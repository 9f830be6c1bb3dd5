/** Policies that choose one worker per question: routers that learn from the records, and the reading Conductor. */

import { Embedder } from "@divisi/core"
import { Head, Outcomes, Router, Table } from "@divisi/policy-router"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { foldOf, type Known, knownOf, perFold, trainingOf } from "./Folds.ts"
import * as Grpo from "./Grpo.ts"
import { type Answers, type Chooser, usdOf, workers } from "./Policies.ts"
import type { Question } from "./Questions.ts"
import * as ReadingConductor from "./ReadingConductor.ts"

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

const pointOf = (text: string): Float32Array => Effect.runSync(Embedder.ask(embedder, [text]))[0]!

/** Learns to choose a worker by the text of a question. */
type Learner = (training: Known) => (text: string) => string

const byTable: Learner = (training) => {
  const decide = Router.decider(Result.getOrThrow(Table.fit(examplesOf(training))))
  return (text) => decide(pointOf(text)).worker
}

const byHead: Learner = (training) => {
  const head = Result.getOrThrow(Head.fit(examplesOf(training)))
  return (text) => Head.decide(head, Head.place(head, pointOf(text)), Head.atStart).worker
}

/** The number of passes over the questions, and the size of a step. */
const grpo = { passes: 40, rate: 0.25 }

const softmax = (logits: ReadonlyArray<number>): ReadonlyArray<number> => {
  const most = Math.max(...logits)
  const exponentials = logits.map((logit) => Math.exp(logit - most))
  const sum = exponentials.reduce((total, one) => total + one, 0)
  return exponentials.map((one) => one / sum)
}

/** A linear policy over the words of the question, trained by GRPO over the recorded outcomes. */
const byGrpo: Learner = (training) => {
  const inputOf = (text: string) => [...pointOf(text), 1]
  const groups = Grpo.groupsOf(training).map((group) => ({ ...group, input: inputOf(group.question.text) }))
  const weights = workers.map(() => new Float64Array(groups[0]?.input.length ?? 0))
  const logitsOf = (input: ReadonlyArray<number>) =>
    weights.map((own) => input.reduce((sum, value, at) => sum + value * own[at]!, 0))
  for (let pass = 0; pass < grpo.passes; pass++) {
    for (const { advantages_G, input } of groups) {
      const slopes = Grpo.slopesOf(softmax(logitsOf(input)), advantages_G)
      for (const [at, own] of weights.entries()) {
        for (const [place, value] of input.entries()) own[place]! += grpo.rate * slopes[at]! * value
      }
    }
  }
  return (text) => {
    const logits = logitsOf(inputOf(text))
    return workers[logits.indexOf(Math.max(...logits))]!
  }
}

const router = (name: string, known: Known, learn: Learner): Chooser => {
  const decideOf = perFold((fold) => {
    const training = trainingOf(known, fold)
    return training && learn(training)
  })
  return { name, choose: (question) => decideOf(foldOf(question))?.(question.text) }
}

/** Chooses once for each question. */
const remembering = ({ choose, name }: Chooser): Chooser => {
  const choices = new Map<Question, ReturnType<typeof choose>>()
  return {
    name,
    choose: (question) => {
      if (!choices.has(question)) choices.set(question, choose(question))
      return choices.get(question)
    }
  }
}

/** All choosers, with what they have learned from these records. */
export const all = async (
  questions: ReadonlyArray<Question>,
  answersOf: ReadonlyMap<string, Answers>
): Promise<ReadonlyArray<Chooser>> => {
  const known = knownOf(questions, answersOf)
  const all = [
    router("router: table", known, byTable),
    router("router: head", known, byHead),
    router("router: GRPO over recorded outcomes", known, byGrpo),
    ...(await ReadingConductor.all(known))
  ]
  return all.map(remembering)
}
