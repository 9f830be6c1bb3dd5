/**
 * The supervised phase before any reward: the tiny Conductor learns to read a question, to write a plan, and to find a
 * worker in the list.
 *
 * Examples are real questions of the gym's training split, with plans whose attempts and checks are sampled at random.
 * Workers are sampled too, mostly from those whose descriptions mention the kind. The examples do not show how accurate
 * each worker is, or which choice pays.
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

/** Which examples. */
export interface Options {
  readonly pool: WorkerPool
  readonly pools: PoolConfig
  /** Plans for each question. */
  readonly plans: number
  /** The share of examples that are a second round. */
  readonly recursive: number
  readonly composites: number
}

export const maxSteps = 5

/** The share of parts that are checked if a worker can check; and of these, the share that is attempted twice. */
const checked = 0.3
const attemptedTwice = 0.5

/**
 * The share of attempts by the nearest of those who are described by a word for the kind, and of the rest by the next.
 */
const near = 0.7

/** The share of answers that a second round accepts, and of the rest the share for which the whole is planned again. */
const stands = 0.5
const wholeAgain = 0.5

/** The words of a description that can be sought. */
const wordsOf = ({ description = "" }: Pick<Worker, "description">): ReadonlyArray<string> =>
  description.match(/[a-zA-Z]{4,}/g) ?? []

const anyOf = ({ workers }: WorkerPool): ReadonlyArray<number> => workers.map((_, at) => at)

const describedBy = (pool: WorkerPool, words: ReadonlyArray<string>): ReadonlyArray<number> =>
  anyOf(pool).filter((at) => wordsOf(pool.workers[at]!).some((word) => words.includes(word)))

/** Returns any worker whose description contains a word, or else any worker of the pool. */
const found = (draw: Seed.Draw, pool: WorkerPool, word: string): number => {
  const having = describedBy(pool, [word])
  return Seed.pick(draw, having.length === 0 ? anyOf(pool) : having)
}

/** Returns a worker for a kind: mostly one described by its name, else by another word for it, sometimes any worker. */
const foundFor = (draw: Seed.Draw, pool: WorkerPool, kind: Family.FamilyName): number => {
  const words = Plan.words[kind]
  const nearest = [describedBy(pool, [words[0]]), describedBy(pool, words)].filter(({ length }) => length > 0)
  return Seed.pick(draw, nearest.find(() => Seed.chance(draw, near)) ?? anyOf(pool))
}

/** Whether the pool has a worker that checks. */
const hasChecker = (pool: WorkerPool): boolean => describedBy(pool, [Plan.wordForChecks]).length > 0

/** Returns the steps for a part, up to a maximum: an attempt, or one or two and a check. */
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

/** Samples a plan for a question of these parts. */
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
 * Samples a plan for a second round. It is empty, which accepts an existing answer; or covers the whole question again;
 * or only the last part, whose steps see the previous answer.
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

/** The weights of what a line of thought is made of, and of the ordinals that are copied from it. */
interface Weights {
  readonly sought: number
  readonly title: number
  readonly ordinal: number
  readonly copied: number
}

const ofPlans: Weights = { sought: 4, title: 1, ordinal: 4, copied: 5 }

/** The lookup words in exercises are random. */
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

/** Returns the outcome of a sampled plan, as shown to a second round. */
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

/** The share of lines of an exercise that look up a kind, which may be missing from all descriptions. */
const kindsSought = 0.3

/** A line of an exercise: what is sought, and the ordinal of a worker that is found. */
const lineByLot = (draw: Seed.Draw, pool: WorkerPool) => {
  const sought = Seed.chance(draw, kindsSought)
    ? Plan.soughtOf({ kind: Seed.pick(draw, Family.names), isCheck: hasChecker(pool) && Seed.chance(draw, checked) })
    : Seed.pick(draw, wordsOf(Seed.pick(draw, pool.workers)))
  return { part: 1 + Seed.below(draw, 3), sought, worker: found(draw, pool, sought) }
}

/** Any question of the training split. */
export const anyTask = (draw: Seed.Draw, composites: number): Task =>
  Gym.tasks({ split: "train", count: 1, seed: 1 + Seed.below(draw, 2 ** 30), composites })[0]!

/**
 * Exercises in finding: a list of workers and a question, then line after line of a word, the title of a worker that is
 * found by it, and that worker's ordinal. They end with a list of ordinals.
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

/** Examples of several sources in turn, each as often as its share of the whole says. */
export const mixed = (
  name: string,
  sources: ReadonlyArray<{ readonly source: ExampleSource.ExampleSource; readonly share: number }>
): ExampleSource.ExampleSource => {
  const turns = sources.flatMap(({ share, source }) => Array.from({ length: share }, () => source))
  return ExampleSource.make(name, (seed, index) => turns[index % turns.length]!.example(seed, index))
}

/** Examples, each the same for the same seed and place. */
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
