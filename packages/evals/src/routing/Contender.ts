/** Types for the routers and baselines compared in a benchmark. */
import type { Embedder } from "@divisi/core"
import * as Effect from "effect/Effect"

/** A question for which every compared worker has a score. */
export interface Question {
  readonly id: string
  readonly kind?: string | undefined
  readonly text: string
  /** Embedding of the question. */
  readonly point: Float32Array
  /** Scores keyed by worker, from 0 to 1. */
  readonly scores: ReadonlyMap<string, number>
  /** Cost of one answer in USD, keyed by worker, if known. */
  readonly costUsd: ReadonlyMap<string, number>
  /** Recorded answers, keyed by worker. */
  readonly answers: ReadonlyMap<string, string>
}

/** The outcome of answering a question. */
export interface Played {
  readonly score: number
  /** Cost in USD; `NaN` if a price is unknown. */
  readonly costUsd: number
}

/** Answers a question that was not used for training. */
export type Play = (question: Question) => Played

/** The training data available to contenders. */
export interface Training {
  readonly questions: ReadonlyArray<Question>
  readonly workers: ReadonlyArray<string>
  /** The worker with the best mean score on the training questions; the cheaper one in a tie. */
  readonly best: string
  readonly seed: number
}

/** A router or a baseline. */
export interface Contender {
  readonly name: string
  readonly fit: (training: Training) => Effect.Effect<Play, Embedder.EmbedderError>
}

/** Returns the outcome of asking one worker. */
export const ask = ({ costUsd, scores }: Question, worker: string): Played => ({
  score: scores.get(worker) ?? 0,
  costUsd: costUsd.get(worker) ?? Number.NaN
})

/** Creates a contender that asks one worker, selected based on the question. */
export const choosing = (name: string, fit: (training: Training) => (question: Question) => string): Contender => ({
  name,
  fit: (training) =>
    Effect.sync(() => {
      const choose = fit(training)
      return (question) => ask(question, choose(question))
    })
})
