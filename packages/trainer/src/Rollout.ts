/**
 * Rollouts: Conductor runs used for training.
 *
 * In a rollout, a language policy writes workflows with the engine's sampler as its model, and every round is graded
 * and rewarded. Response cache, budgets, retries and reassignment come from core. All rollouts for one question form a
 * group.
 */
import {
  type Budget,
  Callback,
  Grader,
  Journal,
  LanguagePolicy,
  Seed,
  StepFailure,
  Transcript,
  type Workflow
} from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import type { Worker } from "@divisi/core/Worker"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Semaphore from "effect/Semaphore"
import type { Question } from "./Curriculum.ts"
import type { EngineError, Sample, Sampler, Tokenizer } from "./Engine.ts"
import * as GroupSampling from "./internal/groupSampling.ts"
import { lastFailure, measure, type RoundMeasures } from "./internal/roundMeasures.ts"
import * as SamplerWorker from "./SamplerWorker.ts"
import type { PenaltyConfig, RolloutConfig } from "./TrainingConfig.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** One completion of a rollout, with its grade and reward. */
export interface Round extends RoundMeasures {
  /** Prompt tokens. Completions that were sampled together share the same array. */
  readonly prompt: ReadonlyArray<number>
  readonly sample: Sample
  readonly text: string
  readonly result: Grader.Result
  /** Reward after penalties. */
  readonly reward: number
  /** Why the completion could not be parsed, or why there is no answer. */
  readonly detail?: string | undefined
  readonly workflow?: Workflow.Workflow | undefined
  readonly answer?: string | undefined
  readonly confirmed: boolean
  readonly grade?: Grader.Grade | undefined
}

/** One Conductor run used for training. */
export interface Rollout {
  /** Index within the group, from 0. */
  readonly member: number
  readonly rounds: ReadonlyArray<Round>
  /** Why the rollout was dropped. Set only for failures that the policy did not cause. */
  readonly dropped?: string | undefined
  /**
   * The worker and the type of failure because of which the rollout was lost, for example `openai:gpt-6.1-sol: Overloaded`.
   */
  readonly lostTo?: string | undefined
  /** Cost of earlier attempts that were lost, in USD. */
  readonly abandonedCostUsd: number
}

/** All rollouts for one question. */
export interface Group {
  readonly question: Question
  readonly samplerVersion: number
  readonly rollouts: ReadonlyArray<Rollout>
}

/** Store for rollouts in progress, so that their answers are not paid for again after a crash. */
export interface Kept {
  /** Returns the journal for a rollout, given its run id. */
  readonly journalOf: (run: string) => Journal.Journal
  /** Called for each paid call. */
  readonly pay: (run: string, costUsd: number) => void
  /** Called when a run was lost to a worker failure. */
  readonly lose: (run: string) => void
}

/** Options for running rollouts. */
export interface Options {
  readonly config: RolloutConfig
  readonly groupSize: number
  readonly sampler: Sampler
  readonly tokenizer: Tokenizer
  readonly grader: Grader.Grader
  /** Account of the entire training run. */
  readonly ledger: Budget.Ledger
  /**
   * Store for rollouts in progress. By default, they are not stored. Each rollout is identified by its question, its
   * index in the group, and the version of the weights.
   */
  readonly kept?: Kept | undefined
  /** Limits how many completions are sampled concurrently. */
  readonly sampling: Semaphore.Semaphore
  /** Limits how many rollouts execute their workflows concurrently. */
  readonly running: Semaphore.Semaphore
  /** Creates the policy for a model. Defaults to a `LanguagePolicy` with the configured prompt. */
  readonly policy?: ((model: Worker) => Policy.Policy) | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Raised when a call would exceed the cost limit of the training run. */
export class CostLimitReached extends Data.TaggedError("CostLimitReached")<{
  readonly limitUsd: number
  readonly spentUsd: number
}> {
  override get message(): string {
    return `The cost limit of ${this.limitUsd} USD was reached (${this.spentUsd} spent). Resume with a higher limit.`
  }
}

/**
 * Raised when a policy never requested a completion. This is a configuration error, because there is nothing to train
 * on.
 */
export class RolloutError extends Data.TaggedError("RolloutError")<{
  readonly task: string
  readonly detail: string
}> {
  override get message(): string {
    return `No completion was sampled for ${this.task}: ${this.detail}`
  }
}

/** Errors that stop a group of rollouts. */
export type RolloutFailure =
  | EngineError
  | CostLimitReached
  | RolloutError
  | Callback.CallbackError
  | Journal.JournalError

// -------------------------------------------------------------------------------------------------------------------
// Rewards
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the paper's reward minus the configured penalties for calls, time, sequential steps and cost, but not less
 * than 0.
 *
 * **Example**
 *
 * ```ts
 * import { Rollout } from "@divisi/trainer"
 *
 * const spent = { calls: 3, criticalPathMillis: 2000, criticalPathSteps: 2, costUsd: 0.01 }
 * const none = { perCall: 0, perSecond: 0, perCriticalStep: 0, perUsd: 0 }
 * Rollout.reward("correct", spent, none) // => 1
 * Rollout.reward("correct", spent, { ...none, perCall: 0.05, perSecond: 0.05 }) // => 0.75
 * Rollout.reward("unreadable", spent, { ...none, perCall: 1 }) // => 0
 * ```
 */
export const reward = (
  result: Grader.Result,
  spent: Pick<Round, "calls" | "criticalPathMillis" | "criticalPathSteps" | "costUsd">,
  penalties: PenaltyConfig
): number =>
  Math.max(
    0,
    Grader.reward(result) -
      penalties.perCall * spent.calls -
      penalties.perSecond * (spent.criticalPathMillis / 1000) -
      penalties.perCriticalStep * spent.criticalPathSteps -
      penalties.perUsd * spent.costUsd
  )

// -------------------------------------------------------------------------------------------------------------------
// Rollouts
// -------------------------------------------------------------------------------------------------------------------

/** Creates a policy with the configured prompt, without resampling or fallback, so that every completion counts. */
const languagePolicy = (config: RolloutConfig) => (model: Worker) => {
  const policy = LanguagePolicy.make({
    model,
    prompt: config.prompt,
    mode: config.reading,
    maxOutputTokens: config.maxTokens,
    temperature: 1,
    resamples: 0
  })
  return config.prompt.how === true ? withinBudget(policy, config) : policy
}

/** Default for the maximum number of items per step in training, unless the run settings specify one. */
const defaultMaxItems = 8

/**
 * Returns a policy that rejects plans whose worst-case usage exceeds the budget of a rollout, so that exploration
 * cannot trigger a thousand calls. A rejected completion counts as unparseable.
 */
const withinBudget = (policy: Policy.Policy, { run: { budget = {} } }: RolloutConfig): Policy.Policy => ({
  ...policy,
  propose: (context) =>
    Effect.flatMap(Policy.propose(policy, context), (proposal): ReturnType<Policy.Policy["propose"]> => {
      const { most } = context.price(proposal.workflow)
      const over = (["calls", "tokens", "costUsd"] as const).find(
        (limit) => (most[limit] ?? 0) > (budget[limit] ?? Infinity)
      )
      if (over === undefined) return Effect.succeed(proposal)
      const detail = `its plan may use ${most[over]} ${over}, but a rollout's budget is ${budget[over]}`
      return Effect.fail(new Policy.PolicyError({ policy: policy.name, detail }))
    })
})

/**
 * Returns a policy that uses `nested` in nested runs, if the Conductor is a worker in its own pool. The nested policy
 * is not offered the Conductor as a worker.
 */
const withNested = (policy: Policy.Policy, nested: Policy.Policy, { self }: RolloutConfig): Policy.Policy =>
  self ? { ...policy, propose: (context) => Policy.propose(context.self ? policy : nested, context) } : policy

/**
 * Returns a policy that waits for a permit once the first workflow is written, and a `release` effect that returns the
 * permit.
 */
const limited = (policy: Policy.Policy, running: Semaphore.Semaphore) => {
  let taken = 0
  const take = Effect.uninterruptibleMask((restore) =>
    Effect.map(restore(running.take(1)), (permits) => {
      taken = permits
      return permits
    })
  )
  const propose: Policy.Policy["propose"] = (context) =>
    Effect.tap(Policy.propose(policy, context), () => (taken > 0 ? Effect.void : take))
  return { policy: { ...policy, propose }, release: Effect.suspend(() => running.release(taken)) }
}

/** Returns a policy that records each completion received from its model. */
const recorded = (policy: Policy.Policy, { take }: GroupSampling.Writer): Policy.Policy => ({
  ...policy,
  propose: (context) => {
    const complete: Policy.Context["complete"] = (asked) =>
      Effect.map(context.complete(asked), (completed) => {
        if (asked.model.id === GroupSampling.id) take(asked.request.messages, completed.echo as Sample)
        return completed
      })
    return Policy.propose(policy, { ...context, complete })
  }
})

/** Error that stops a group. Its rollouts are then not graded, and each of them can be resumed. */
type Stop = Deferred.Deferred<never, EngineError | CostLimitReached>

/**
 * Returns the account for rollouts. If the cost limit of the training run rejects a payment, the whole group stops
 * instead of cutting a rollout short.
 */
const paying = ({ ledger }: Options, stop: Stop): Budget.Ledger => ({
  ...ledger,
  reserve: (...asked) =>
    Effect.catch(ledger.reserve(...asked), ({ allowed }) => {
      const error = new CostLimitReached({ limitUsd: allowed, spentUsd: ledger.spent().costUsd })
      return Effect.andThen(Deferred.fail(stop, error), Effect.interruptible(Effect.never))
    })
})

// -------------------------------------------------------------------------------------------------------------------
// Grades
// -------------------------------------------------------------------------------------------------------------------

type Graded = Pick<Round, "result" | "detail" | "grade">

/** Round that cannot be attributed to the policy, because its workers failed or the grader gave no verdict. */
class Ungraded extends Data.TaggedError("Ungraded")<{
  readonly detail: string
  readonly canRetry: boolean
  readonly lostTo?: string | undefined
}> {}

/**
 * Returns the worker failure, if any, that makes a round unusable for judging its plan: an outage, an invalid key, an
 * exhausted quota, or a bug in the worker's code.
 */
const outageIn = ({ runId = "" }: Partial<Transcript.Transcript>, round: Transcript.RoundRecord) =>
  StepFailure.outagesOf({ runId, rounds: [round] }).find(({ step }) => step !== undefined)

/** Returns the grader's verdict, or the reason why it is missing. */
const verdict = (given: Effect.Effect<Grader.Grade, Grader.GraderError>): Effect.Effect<Graded, Ungraded> =>
  Effect.mapBoth(given, {
    onSuccess: (grade) => ({ result: grade.correct ? "correct" : "wrong", grade }),
    onFailure: ({ message }) => new Ungraded({ detail: message, canRetry: false })
  })

/** Grades the result of a completion. */
const grade = Effect.fnUntraced(function* (
  question: Question,
  round: Transcript.RoundRecord,
  transcript: Partial<Transcript.Transcript>,
  { config, grader }: Options
): Effect.fn.Return<Graded, Ungraded> {
  const { detail, ending } = transcript
  const { answer, completions, workflow } = round
  const outage = config.failures.lost === "wrong" ? undefined : outageIn(transcript, round)
  if (outage !== undefined) {
    const { message, reason, worker } = outage
    const canRetry = config.failures.lost === "retry"
    return yield* new Ungraded({ detail: message, canRetry, lostTo: `${worker}: ${reason}` })
  }
  if (workflow === undefined) {
    if (ending !== "refused")
      return { result: "unreadable", detail: completions.at(-1)?.error ?? detail ?? "no workflow" }
    const refusal = Grader.askRefusal(grader, question.task)
    return refusal === undefined ? { result: "wrong", detail } : yield* verdict(refusal)
  }
  if (answer === undefined) {
    const failure = lastFailure(round)
    const why = failure?.detail ?? detail ?? "no answer"
    return { result: "wrong", detail: why }
  }
  return yield* verdict(Grader.ask(grader, question.task, answer))
})

const roundOf = (
  { prompt, sample }: GroupSampling.SampledCompletion,
  record: Transcript.RoundRecord,
  graded: Graded,
  { config, tokenizer }: Options
): Round => {
  const { answer, confirmed, workflow } = record
  const measures = measure(record)
  return {
    prompt,
    sample,
    text: SamplerWorker.decode(tokenizer, sample),
    ...graded,
    reward: reward(graded.result, measures, config.penalties),
    workflow,
    answer,
    confirmed,
    ...measures
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

/** Result of one attempt at a rollout. */
type Attempt =
  | ({ readonly _tag: "Finished"; readonly rounds: ReadonlyArray<Round> } & Pick<Rollout, "dropped" | "lostTo">)
  /** Workers failed, and the rollout should be run again. */
  | { readonly _tag: "Again"; readonly rounds: ReadonlyArray<Round> }

/** Grades the rounds of a run. The first round that cannot be graded determines how the rollout is handled. */
const gradeRounds = Effect.fnUntraced(function* (
  question: Question,
  sampled: ReadonlyArray<GroupSampling.SampledCompletion>,
  transcript: Transcript.Transcript | undefined,
  isLastAttempt: boolean,
  options: Options
): Effect.fn.Return<Attempt> {
  const rounds: Array<Round> = []
  let ungraded: Ungraded | undefined
  for (const [index, record] of (transcript?.rounds ?? []).slice(0, sampled.length).entries()) {
    const graded: Graded = yield* Effect.catchTag(
      grade(question, record, transcript ?? {}, options),
      "Ungraded",
      (error) => {
        ungraded ??= error
        return Effect.succeed<Graded>({ result: "wrong" })
      }
    )
    rounds.push(roundOf(sampled[index]!, record, graded, options))
  }
  return ungraded?.canRetry === true && !isLastAttempt
    ? { _tag: "Again", rounds }
    : { _tag: "Finished", rounds, dropped: ungraded?.detail, lostTo: ungraded?.lostTo }
})

/** Inputs for one attempt at a rollout. */
interface Attempted {
  readonly member: number
  /** Number of earlier attempts that were lost to worker failures. */
  readonly attempt: number
  /** Number of earlier starts that were abandoned because their stored calls do not match the current requests. */
  readonly begun: number
}

/** Executes a rollout once. */
const run = Effect.fnUntraced(function* (
  question: Question,
  writer: GroupSampling.Writer,
  { attempt, begun, member }: Attempted,
  account: Budget.Ledger,
  options: Options
): Effect.fn.Return<Attempt | undefined, RolloutFailure> {
  const { config, kept } = options
  const policyOf = options.policy ?? languagePolicy(config)
  const made = (model: Worker) => Callback.called("policy of the training", () => policyOf(model))
  const [own, nested] = [yield* made(writer.worker), yield* made(writer.nested)]
  const { policy, release } = limited(withNested(recorded(own, writer), nested, config), options.running)
  const recorder = Transcript.recorder()
  const conductor = Conductor.make({
    policy,
    pool: question.pool,
    maxItems: defaultMaxItems,
    ...config.run,
    // The reward must be attributed to the worker named in the plan.
    reassign: "never",
    recursion: question.extraRounds,
    self: config.self ? { maxDepth: 1 } : undefined
  })
  const runId = `${question.index}.${member}.${attempt}@${options.sampler.version}${"~".repeat(begun)}`
  const onPaid = kept && (({ costUsd = 0 }: Budget.Payment) => kept.pay(runId, costUsd))
  const { detail, error } = yield* conductor
    .run(question.task, {
      seed: Seed.spread(question.seed, "run", config.sharedAnswers ? "shared" : member, attempt),
      runId,
      payer: { account, chargesUnconfirmedCalls: true, onPaid },
      journal: kept?.journalOf(runId),
      listener: recorder.listener
    })
    // Rollouts must not be written to the caller's journal.
    .pipe(Effect.provideService(Journal.Journal, undefined), Effect.ensuring(release))
  if (error instanceof Journal.JournalMismatch) return undefined
  if (error instanceof Journal.JournalError) return yield* error
  if (writer.sampled.length === 0) {
    return yield* new RolloutError({ task: question.task.id, detail: detail ?? "the run was stopped" })
  }
  const isLastAttempt = attempt >= config.failures.retries
  const graded = yield* gradeRounds(question, writer.sampled, recorder.transcript(), isLastAttempt, options)
  if (graded._tag === "Again" || graded.lostTo !== undefined) kept?.lose(runId)
  return graded
})

/** Executes a rollout, and repeats it if its workers fail and the settings allow it. The first completion is reused. */
const runUntilGraded = Effect.fnUntraced(function* (
  question: Question,
  writerOf: (member: number) => GroupSampling.Writer,
  member: number,
  account: Budget.Ledger,
  options: Options
): Effect.fn.Return<Rollout, RolloutFailure> {
  let abandonedCostUsd = 0
  let [attempt, begun] = [0, 0]
  for (;;) {
    const result = yield* run(question, writerOf(member), { member, attempt, begun }, account, options)
    if (result?._tag === "Finished") {
      const { dropped, lostTo, rounds } = result
      return { member, rounds, abandonedCostUsd, dropped, lostTo }
    }
    if (result === undefined) begun += 1
    else {
      attempt += 1
      abandonedCostUsd += result.rounds.reduce((sum, { costUsd }) => sum + costUsd, 0)
    }
  }
})

/**
 * Generates the rollouts for one question.
 *
 * **Details**
 *
 * The first completions are sampled in one request. A failed run is not an error: `failures` determines its reward.
 * Only engine failures and the cost limit of the training run are errors.
 *
 * **Example**
 *
 * ```ts
 * import { Budget, Grader } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as Task from "@divisi/core/Task"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import { Rollout, ToyEngine, TrainingConfig } from "@divisi/trainer"
 * import * as Effect from "effect/Effect"
 * import * as Semaphore from "effect/Semaphore"
 *
 * const engine = ToyEngine.make()
 * const question = {
 *   index: 0,
 *   task: Task.make({ question: "What is 6 times 7?", reference: "42" }),
 *   kind: "product",
 *   pool: WorkerPool.makeUnsafe([ScriptedWorker.echo("a")]),
 *   extraRounds: 0,
 *   seed: 1
 * }
 * const make = Effect.gen(function* () {
 *   return yield* Rollout.group(question, {
 *     config: { ...TrainingConfig.defaultRollouts, maxTokens: 16 },
 *     groupSize: 4,
 *     sampler: yield* engine.sampler,
 *     tokenizer: engine.tokenizer,
 *     grader: Grader.exact,
 *     ledger: Budget.make(),
 *     sampling: yield* Semaphore.make(4),
 *     running: yield* Semaphore.make(4)
 *   })
 * })
 * const { rollouts } = await Effect.runPromise(Effect.scoped(make))
 * rollouts.map(({ rounds }) => rounds[0]?.result) // => ["unreadable", "unreadable", "unreadable", "unreadable"]
 * ```
 */
export const group = Effect.fnUntraced(function* (
  question: Question,
  options: Options
): Effect.fn.Return<Group, RolloutFailure> {
  const stop: Stop = yield* Deferred.make<never, EngineError | CostLimitReached>()
  const account = paying(options, stop)
  const writerOf = GroupSampling.make({
    sampler: options.sampler,
    tokenizer: options.tokenizer,
    maxTokens: options.config.maxTokens,
    size: options.groupSize,
    seed: Seed.spread(question.seed, "completions"),
    permits: options.sampling,
    onFailure: (error) => Deferred.fail(stop, error)
  })
  const made = Effect.forEach(
    Array.from({ length: options.groupSize }, (_, member) => member),
    (member) => runUntilGraded(question, writerOf, member, account, options),
    { concurrency: "unbounded" }
  )
  const rollouts = yield* Effect.raceFirst(made, Deferred.await(stop))
  return { question, samplerVersion: options.sampler.version, rollouts }
})
