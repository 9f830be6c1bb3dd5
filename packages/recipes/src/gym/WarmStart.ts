/**
 * The supervised phase before reinforcement learning: the tiny Conductor learns to read a question, to write a plan,
 * and to look up workers in the list.
 *
 * Examples use questions from the gym's training split with randomly sampled plans. Workers are sampled as well, mostly
 * from those whose descriptions mention the kind. The examples do not show how accurate each worker is or which choice
 * is best.
 */

import { Prompt, Seed } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import type { Refusal, Worker } from "@divisi/core/Worker"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import { Family } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as TinyPrompt from "@divisi/policy-tiny/TinyPrompt"
import { Curriculum, ExampleSource } from "@divisi/trainer"
import type { PoolConfig } from "@divisi/trainer/TrainingConfig"
import * as Effect from "effect/Effect"
import * as Draw from "./Draw.ts"
import * as Plan from "./Plan.ts"

/** Options for generating examples. */
export interface Options {
  readonly pool: WorkerPool
  readonly pools: PoolConfig
  /** Number of plans per question. */
  readonly plans: number
  /** Share of examples that show a second round. */
  readonly recursive: number
  readonly composites: number
}

export const maxSteps = 5

/** The share of parts that are checked if the pool has a checker, and the share of these with two attempts. */
const checked = 0.3
const attemptedTwice = 0.5

/**
 * The share of attempts assigned to the best-described worker for the kind; the same share of the remainder goes to the
 * next one, and so on.
 */
const near = 0.7

/**
 * The share of answers that a second round accepts, and the share of the remaining ones that are planned again from the
 * start.
 */
const stands = 0.5
const wholeAgain = 0.5

/** Returns the words of a description that can be used for lookup. */
const wordsOf = ({ description = "" }: Pick<Worker, "description">): ReadonlyArray<string> =>
  description.match(/[a-zA-Z]{4,}/g) ?? []

const anyOf = ({ workers }: WorkerPool): ReadonlyArray<number> => workers.map((_, at) => at)

const describedBy = (pool: WorkerPool, words: ReadonlyArray<string>): ReadonlyArray<number> =>
  anyOf(pool).filter((at) => wordsOf(pool.workers[at]!).some((word) => words.includes(word)))

/** Returns a random worker whose description contains a word, or any worker from the pool if no description does. */
const found = (draw: Seed.Draw, pool: WorkerPool, word: string): number => {
  const having = describedBy(pool, [word])
  return Seed.pick(draw, having.length === 0 ? anyOf(pool) : having)
}

/**
 * Returns a worker for a kind: usually one described with its name, otherwise with a synonym, and occasionally any
 * worker.
 */
const foundFor = (draw: Seed.Draw, pool: WorkerPool, kind: Family.FamilyName): number => {
  const words = Plan.words[kind]
  const nearest = [describedBy(pool, [words[0]]), describedBy(pool, words)].filter(({ length }) => length > 0)
  return Seed.pick(draw, nearest.find(() => Seed.chance(draw, near)) ?? anyOf(pool))
}

/** Whether the pool contains a checker. */
const hasChecker = (pool: WorkerPool): boolean => describedBy(pool, [Plan.wordForChecks]).length > 0

/** Samples the steps for a part, up to a maximum: one attempt, or one or two attempts and a check. */
const stepsByLot = (
  draw: Seed.Draw,
  pool: WorkerPool,
  part: Pick<Plan.PlannedStep, "kind" | "part" | "access">,
  most: number
): ReadonlyArray<Plan.PlannedStep> => {
  const attempt = { ...part, isCheck: false, worker: foundFor(draw, pool, part.kind) }
  if (most < 2 || !hasChecker(pool) || !Seed.chance(draw, checked)) return [attempt]
  const check = { ...part, isCheck: true, access: "all", worker: found(draw, pool, Plan.wordForChecks) } as const
  return most > 2 && Seed.chance(draw, attemptedTwice) ? [attempt, attempt, check] : [attempt, check]
}

/** Samples a plan for a question with the given parts. */
const planByLot = (draw: Seed.Draw, parts: ReadonlyArray<Gym.Part>, pool: WorkerPool): Array<Plan.PlannedStep> => {
  const steps: Array<Plan.PlannedStep> = []
  for (const [index, { family: kind }] of parts.entries()) {
    const access = index === 0 ? [] : "all"
    const left = parts.length - index - 1
    steps.push(...stepsByLot(draw, pool, { kind, part: index + 1, access }, maxSteps - steps.length - left))
  }
  return steps
}

/**
 * Samples a plan for a second round. The plan is empty, which accepts an existing answer, or covers the whole question
 * again, or only the last part, whose steps receive the previous answer.
 */
const secondByLot = (
  draw: Seed.Draw,
  parts: ReadonlyArray<Gym.Part>,
  pool: WorkerPool,
  answer: Prompt.StepAnswer
): ReadonlyArray<Plan.PlannedStep> => {
  if (answer.type === "answered" && Seed.chance(draw, stands)) return []
  if (Seed.chance(draw, wholeAgain)) return planByLot(draw, parts, pool)
  return stepsByLot(draw, pool, { kind: parts.at(-1)!.family, part: parts.length, access: "all" }, maxSteps)
}

/** Loss weights for the parts of a reasoning line, and for the ordinals copied from it. */
interface Weights {
  readonly sought: number
  readonly title: number
  readonly ordinal: number
  readonly copied: number
}

const ofPlans: Weights = { sought: 4, title: 1, ordinal: 4, copied: 5 }

/** Loss weights for exercises, in which the lookup terms are random and cannot be learned. */
const ofExercises: Weights = { sought: 0.02, title: 2, ordinal: 4, copied: 4 }

const spansOf = (text: string, weights: Weights): ReadonlyArray<ExampleSource.Span> => {
  const thoughts = [...text.matchAll(/^\d(?<sought> \w+):(?<title> \w+)=(?<ordinal>\d+)$/gm)].flatMap(
    ({ groups, index }) => {
      const { ordinal, sought, title } = groups as { ordinal: string; sought: string; title: string }
      const colon = index + 1 + sought.length
      const equals = colon + 1 + title.length
      return [
        { start: index + 1, end: colon, weight: weights.sought },
        { start: colon + 1, end: equals, weight: weights.title },
        { start: equals + 1, end: equals + 1 + ordinal.length, weight: weights.ordinal }
      ]
    }
  )
  const copied = [...text.matchAll(/(?<=^model_id = \[).*$/gm)].map(({ 0: ids, index }) => ({
    start: index,
    end: index + ids.length,
    weight: weights.copied
  }))
  return [...thoughts, ...copied]
}

const completionOf = (pool: WorkerPool, steps: ReadonlyArray<Plan.PlannedStep>): ExampleSource.ExampleCompletion => {
  const text = Plan.write(pool, steps)
  return { text, spans: spansOf(text, ofPlans) }
}

const answerOf = (text: string | undefined, error: unknown): Prompt.StepAnswer => {
  if (text !== undefined) return { type: "answered", text }
  const { text: said, worker } = error as Refusal
  return { type: "refused", text: said, worker }
}

/** Returns the outcome of a sampled plan, in the form shown in a second round. */
const previousOf = (draw: Seed.Draw, task: Task, parts: ReadonlyArray<Gym.Part>, pool: WorkerPool) => {
  const workflow = Plan.workflowOf(planByLot(draw, parts, pool))
  const retry = { maxAttempts: 4, baseDelayMillis: 0, maxDelayMillis: 0 }
  const conductor = Conductor.make({
    policy: Policy.fixed("by lot", () => workflow),
    pool,
    retry,
    reassign: "never",
    seed: Seed.below(draw, 2 ** 30)
  })
  return Effect.map(conductor.run(task), ({ answer, error }) => ({
    workflow,
    answer: answerOf(answer, error),
    failed: []
  }))
}

/** The share of exercise lines that look up a kind. The kind may be missing from all descriptions. */
const kindsSought = 0.3

/** Samples a line of an exercise: a lookup term, and the ordinal of a matching worker. */
const lineByLot = (draw: Seed.Draw, pool: WorkerPool) => {
  const sought = Seed.chance(draw, kindsSought)
    ? Plan.soughtOf({ kind: Seed.pick(draw, Family.names), isCheck: hasChecker(pool) && Seed.chance(draw, checked) })
    : Seed.pick(draw, wordsOf(Seed.pick(draw, pool.workers)))
  return { part: 1 + Seed.below(draw, 3), sought, worker: found(draw, pool, sought) }
}

/** Samples a question from the training split. */
export const anyTask = (draw: Seed.Draw, composites: number): Task =>
  Gym.tasks({ split: "train", count: 1, seed: 1 + Seed.below(draw, 2 ** 30), composites })[0]!

/**
 * Generates lookup exercises: a list of workers and a question, then lines with a term, the title of a worker that
 * matches it, and that worker's ordinal. Each exercise ends with the list of ordinals.
 */
export const exercises = (
  name: string,
  options: Pick<Options, "pool" | "pools" | "composites">
): ExampleSource.ExampleSource =>
  ExampleSource.make(
    name,
    Effect.fnUntraced(function* (seed: number, index: number) {
      const draw = Draw.make(seed, index)
      const task = anyTask(draw, options.composites)
      const pool = yield* Effect.orDie(Curriculum.drawPool(options.pool, options.pools, Seed.below(draw, 2 ** 30)))
      const lines = Array.from({ length: 1 + Seed.below(draw, maxSteps) }, () => lineByLot(draw, pool))
      const text = [
        ...lines.map(({ part, sought, worker }) => Plan.thought(pool, part, sought, worker)),
        Plan.modelIds(lines.map(({ worker }) => worker))
      ].join("\n")
      return {
        messages: Prompt.conductorMessages({ task, pool, maxSteps, self: false }, TinyPrompt.options),
        completions: [{ text, weight: 0.02, spans: spansOf(text, ofExercises) }]
      }
    })
  )

/** Interleaves examples from several sources according to their shares. */
export const mixed = (
  name: string,
  sources: ReadonlyArray<{ readonly source: ExampleSource.ExampleSource; readonly share: number }>
): ExampleSource.ExampleSource => {
  const turns = sources.flatMap(({ share, source }) => Array.from({ length: share }, () => source))
  return ExampleSource.make(name, (seed, index) => turns[index % turns.length]!.example(seed, index))
}

/** Generates examples. The same seed and index give the same example. */
export const examples = (name: string, options: Options): ExampleSource.ExampleSource =>
  ExampleSource.make(
    name,
    Effect.fnUntraced(function* (seed: number, index: number) {
      const draw = Draw.make(seed, index)
      const task = anyTask(draw, options.composites)
      const { parts } = Gym.metadata(task)!
      const pool = yield* Effect.orDie(Curriculum.drawPool(options.pool, options.pools, Seed.below(draw, 2 ** 30)))
      const previous = Seed.chance(draw, options.recursive) ? yield* previousOf(draw, task, parts, pool) : undefined
      const context = { task, pool, maxSteps, self: false, previous }
      const plans = Array.from({ length: options.plans }, () =>
        previous === undefined ? planByLot(draw, parts, pool) : secondByLot(draw, parts, pool, previous.answer)
      )
      return {
        messages: Prompt.conductorMessages(context, TinyPrompt.options),
        completions: plans.map((steps) => completionOf(pool, steps))
      }
    })
  )
