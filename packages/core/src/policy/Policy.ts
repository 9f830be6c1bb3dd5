/**
 * Policies: what writes workflows.
 *
 * Everything that answers a question is a policy, run by the same Conductor: a trained model, a prompted one, a lexical
 * router, "always ask worker 2", best-of-n. Most baselines are a policy that always writes the same workflow, so their
 * cost is counted exactly like everybody else's.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Seed from "../Seed.ts"
import type { Task } from "../task/Task.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import type { Worker, WorkerError, WorkerErrorReason, WorkerRequest } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import type { StepAnswer } from "../workflow/StepMessages.ts"
import type { Access, Step, Workflow } from "../workflow/Workflow.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The rounds before this one, as a recursive round sees them. */
export interface Previous {
  /** Of the last round. */
  readonly workflow: Workflow
  /** Its answer; or why it has none, and then another plan is wanted. */
  readonly answer: StepAnswer
  /** The workers, by ordinal, that gave a step of any round no answer, however often they were asked. */
  readonly failed: ReadonlyArray<number>
  /** What a critic said of the answer. */
  readonly feedback?: string | undefined
}

/** What a policy knows when it proposes a workflow. */
export interface Context {
  readonly task: Task
  readonly pool: WorkerPool
  /** The most steps a workflow may have. */
  readonly maxSteps: number
  /** Whether the Conductor is offered as a worker of its own pool; its ordinal is then the size of the pool. */
  readonly self: boolean
  /** 0 for the first round. */
  readonly round: number
  /** Present in recursive rounds. There, a workflow without steps lets the previous answer stand, where there is one. */
  readonly previous?: Previous | undefined
  /** The policy's own seed for this round; the same run gives the same seeds. */
  readonly seed: number
  /** Asks a model for a completion. The only way for a policy to call a model: it is budgeted, retried and recorded. */
  readonly complete: Complete
}

/** Asks a model for a completion and reads it; what it costs and what it says go into the run's events. */
export type Complete = <A, E extends { readonly message: string }>(options: {
  readonly model: Worker
  readonly request: WorkerRequest
  /** 0 for the first completion of a round, 1 after one that could not be read, and so on. */
  readonly attempt: number
  readonly read: (completion: string) => Result.Result<A, E>
}) => Effect.Effect<
  { readonly completion: string; readonly reading: Result.Result<A, E> },
  WorkerError | BudgetExceeded
>

/** A workflow with how it came about. */
export interface Proposal {
  readonly workflow: Workflow
  /** The name of the policy that wrote it, where that is a fallback. */
  readonly policy?: string | undefined
  /** What tolerant reading forgave, and why a fallback wrote it. */
  readonly notes?: ReadonlyArray<string> | undefined
}

/** What writes workflows. */
export interface Policy {
  readonly name: string
  /** The longest workflow it writes, where that is more than the Conductor's limit: a baseline that is always as long. */
  readonly maxSteps?: number | undefined
  readonly propose: (context: Context) => Effect.Effect<Proposal, PolicyError | WorkerError | BudgetExceeded>
}

/** A worker of the pool, by ordinal or by id. */
export type WorkerReference = number | string

/** Whether there is an answer that a recursive round can let stand. */
export const canStand = (previous: Previous | undefined): boolean => previous?.answer.type === "answered"

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The policy has no workflow for this task. */
export class PolicyError extends Data.TaggedError("PolicyError")<{ readonly policy: string; readonly detail: string }> {
  override get message(): string {
    return `The ${this.policy} policy wrote no workflow: ${this.detail}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Fallback
// -------------------------------------------------------------------------------------------------------------------

/** Failures that say that a model is set up wrongly: a fallback would hide them for ever. */
const mistakes: ReadonlySet<WorkerErrorReason["_tag"]> = new Set(["InvalidRequest", "Authentication"])

/**
 * A policy, and another that plans where it cannot.
 *
 * **Details**
 *
 * The fallback plans when the policy fails: when it has no workflow, or the model that it asks fails. It does not when a
 * budget ends, nor when a call is refused for how the model is set up, its settings or its key. `declines` may say
 * beforehand why the policy is not to be asked. Proposals of the fallback have its name, and their first note says why it
 * was asked.
 *
 * **Example**
 *
 * ```ts
 * import * as Policy from "@divisi/core/Policy"
 *
 * const policy = Policy.withFallback(Policy.single("the-expert"), Policy.single(0), {
 *   declines: ({ pool }) => (pool.workers.length === 1 ? "There is nobody to choose from." : undefined)
 * })
 * policy.name // => "single:the-expert"
 * ```
 */
export const withFallback = (
  policy: Policy,
  fallback: Policy,
  options: { readonly declines?: ((context: Context) => string | undefined) | undefined } = {}
): Policy => {
  const standIn = (context: Context, why: string) =>
    Effect.map(fallback.propose(context), (proposal) => ({
      policy: fallback.name,
      ...proposal,
      notes: [`The ${fallback.name} policy stands in. ${why}`, ...(proposal.notes ?? [])]
    }))
  const longest = Math.max(policy.maxSteps ?? 0, fallback.maxSteps ?? 0)
  return {
    name: policy.name,
    ...(longest === 0 ? {} : { maxSteps: longest }),
    propose: (context) => {
      const why = options.declines?.(context)
      if (why !== undefined) return standIn(context, why)
      return Effect.catchTags(policy.propose(context), {
        PolicyError: ({ message }) => standIn(context, message),
        WorkerError: (error) => (mistakes.has(error.reason._tag) ? Effect.fail(error) : standIn(context, error.message))
      })
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Fixed policies
// -------------------------------------------------------------------------------------------------------------------

/**
 * One plan per task. In a recursive round there is nothing to add, so the previous answer stands; when there is none, or
 * a critic has objected to it, the plan is tried again.
 */
const planned = (
  name: string,
  plan: (context: Context) => Result.Result<Workflow, string>,
  maxSteps?: number
): Policy => ({
  name,
  maxSteps,
  propose: (context) =>
    Effect.suspend((): Effect.Effect<Proposal, PolicyError> => {
      const { previous } = context
      if (canStand(previous) && previous?.feedback === undefined) return Effect.succeed({ workflow: { steps: [] } })
      const workflow = plan(context)
      return Result.isFailure(workflow)
        ? Effect.fail(new PolicyError({ policy: name, detail: workflow.failure }))
        : Effect.succeed({ workflow: workflow.success })
    })
})

/**
 * A policy whose workflow is a function of the pool and the task: no model is asked.
 *
 * **Details**
 *
 * `maxSteps` is the longest workflow it writes, where that can be more than the Conductor's limit. In a recursive round
 * it lets the previous answer stand, unless there is none or a critic has objected: then it writes its workflow once
 * more.
 *
 * **Example**
 *
 * ```ts
 * import * as Policy from "@divisi/core/Policy"
 *
 * const longQuestionsToTheLast = Policy.fixed("by-length", (pool, task) => ({
 *   steps: [
 *     { worker: task.messages[0].content.length > 200 ? pool.workers.length - 1 : 0, subtask: "", access: [] }
 *   ]
 * }))
 * ```
 */
export const fixed = (
  name: string,
  plan: (pool: WorkerPool, task: Task, context: Context) => Workflow,
  options: { readonly maxSteps?: number | undefined } = {}
): Policy => planned(name, (context) => Result.succeed(plan(context.pool, context.task, context)), options.maxSteps)

const ordinal = (pool: WorkerPool, reference: WorkerReference): Result.Result<number, string> => {
  const { workers } = pool
  if (typeof reference === "string") {
    const found = workers.findIndex((worker) => worker.id === reference)
    const known = workers.map((worker) => worker.id).join(", ")
    return found >= 0 ? Result.succeed(found) : Result.fail(`no worker of the pool is called "${reference}": ${known}.`)
  }
  return workers[reference] === undefined
    ? Result.fail(`the pool has no worker ${reference}; it has ${workers.length}, counted from 0.`)
    : Result.succeed(reference)
}

const ordinals = (
  pool: WorkerPool,
  references: ReadonlyArray<WorkerReference> | undefined
): Result.Result<ReadonlyArray<number>, string> => {
  if (references === undefined) return Result.succeed(pool.workers.map((_, index) => index))
  return references.length === 0
    ? Result.fail("the list of workers is empty.")
    : Result.all(references.map((reference) => ordinal(pool, reference)))
}

const atLeastOne = (policy: string, option: string, value: number): number => {
  if (Number.isInteger(value) && value >= 1) return value
  throw new RangeError(`The ${policy} policy needs ${option} to be a whole number of at least 1; it is ${value}.`)
}

/** An empty subtask is the question itself: an attempt is then exactly what a single call is. */
const attempt = (worker: number): Step => ({ worker, subtask: "", access: [] })

const instructions = {
  judge:
    "Above are independent answers to the question. Check each of them against the question: they may all be wrong. Give the right final answer, in the form that the question asks for, and nothing else.",
  reflect:
    "Above are your answers to the question so far. Look for mistakes in the last one: what was misread, left out, or worked out wrongly? Give the final answer, corrected where needed, in the form that the question asks for, and nothing else.",
  aggregate:
    "Above are answers of several models to the question. Weigh them critically: some may be partial or wrong. Combine what is right in them into one complete and correct answer, in the form that the question asks for."
}

/** Always asks one worker, and nothing but the question. */
export const single = (worker: WorkerReference): Policy =>
  planned(`single:${worker}`, ({ pool }) =>
    Result.map(ordinal(pool, worker), (worker) => ({ steps: [attempt(worker)] }))
  )

/** Asks one worker, drawn anew for each task: the same for the same seed and task. Without a seed, the run's decides. */
export const randomRouter = (options: { readonly seed?: number | undefined } = {}): Policy =>
  planned("random", ({ pool, seed, task }) =>
    Result.succeed({
      steps: [attempt(Seed.index(pool.workers.length, Seed.derive(options.seed ?? seed, "random", task.id)))]
    })
  )

/**
 * Independent attempts and a judge that sees them all.
 *
 * **Details**
 *
 * `n` attempts (3 by default) by the given workers in turn (the whole pool by default); the judge is the pool's first
 * worker unless another is named.
 */
export const bestOf = (
  options: {
    readonly n?: number | undefined
    readonly judge?: WorkerReference | undefined
    readonly workers?: ReadonlyArray<WorkerReference> | undefined
  } = {}
): Policy => {
  const n = atLeastOne("best-of", "n", options.n ?? 3)
  return planned(
    `best-of-${n}`,
    ({ pool }) =>
      Result.map(
        Result.all([ordinals(pool, options.workers), ordinal(pool, options.judge ?? 0)]),
        ([workers, judge]) => ({
          steps: [
            ...Array.from({ length: n }, (_, index) => attempt(workers[index % workers.length]!)),
            { worker: judge, subtask: instructions.judge, access: "all" }
          ]
        })
      ),
    n + 1
  )
}

/**
 * `n` independent samples of one worker (5 of the first by default); the answer that most of them agree on.
 *
 * **Details**
 *
 * What counts is the final answer: what stands in the last `\boxed{…}`, between `<answer>` tags, or behind "answer:" or
 * "answer is", or else the whole text. The run's answer is the whole text of the first sample with the answer that won.
 */
export const selfConsistency = (
  options: { readonly n?: number | undefined; readonly worker?: WorkerReference | undefined } = {}
): Policy => {
  const n = atLeastOne("self-consistency", "n", options.n ?? 5)
  return planned(
    `self-consistency-${n}`,
    ({ pool }) =>
      Result.map(ordinal(pool, options.worker ?? 0), (worker) => ({
        steps: Array.from({ length: n }, () => attempt(worker)),
        answer: "majority"
      })),
    n
  )
}

/** One worker (the first by default) answers, and then reviews its own answers `rounds` times (5 by default). */
export const selfReflection = (
  options: { readonly rounds?: number | undefined; readonly worker?: WorkerReference | undefined } = {}
): Policy => {
  const rounds = atLeastOne("self-reflection", "rounds", options.rounds ?? 5)
  return planned(
    `self-reflection-${rounds}`,
    ({ pool }) =>
      Result.map(ordinal(pool, options.worker ?? 0), (worker) => ({
        steps: [
          attempt(worker),
          ...Array.from({ length: rounds }, (): Step => ({ worker, subtask: instructions.reflect, access: "all" }))
        ]
      })),
    rounds + 1
  )
}

/**
 * Mixture-of-Agents: layers of proposers, each of which sees all answers of the layer before it, and an aggregator that
 * sees those of the last.
 *
 * **Details**
 *
 * One layer of the whole pool and its first worker as the aggregator by default: with the paper's 7 workers these are
 * its 8 calls.
 */
export const mixtureOfAgents = (
  options: {
    readonly layers?: number | undefined
    readonly proposers?: ReadonlyArray<WorkerReference> | undefined
    readonly aggregator?: WorkerReference | undefined
  } = {}
): Policy => {
  const layers = atLeastOne("mixture-of-agents", "layers", options.layers ?? 1)
  const { proposers } = options
  return planned(
    "mixture-of-agents",
    ({ pool }) =>
      Result.map(
        Result.all([ordinals(pool, proposers), ordinal(pool, options.aggregator ?? 0)]),
        ([workers, aggregator]) => ({ steps: mixture(workers, layers, aggregator) })
      ),
    // Without a list of proposers the pool decides how many there are.
    proposers === undefined ? Number.MAX_SAFE_INTEGER : layers * proposers.length + 1
  )
}

const mixture = (workers: ReadonlyArray<number>, layers: number, aggregator: number): ReadonlyArray<Step> => {
  const layer = (index: number): Access => workers.map((_, at) => index * workers.length + at)
  const refine = (worker: number, index: number): Step => ({
    worker,
    subtask: instructions.aggregate,
    access: layer(index - 1)
  })
  const proposals = Array.from({ length: layers }, (_, index) =>
    workers.map((worker) => (index === 0 ? attempt(worker) : refine(worker, index)))
  )
  return [...proposals.flat(), refine(aggregator, layers)]
}
