/**
 * Rollouts: runs of the Conductor for training.
 *
 * A rollout is a run with a language policy whose model is the engine's sampler, graded and rewarded round by round.
 * Response cache, budgets, retries and reassignment come from core. A group consists of the rollouts of one question.
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

/** One completion of a rollout, with its result. */
export interface Round extends RoundMeasures {
  /** The prompt. Completions that were sampled together share the same array. */
  readonly prompt: ReadonlyArray<number>
  readonly sample: Sample
  readonly text: string
  readonly result: Grader.Result
  /** The reward after penalties. */
  readonly reward: number
  /** The reason why it could not be parsed, or why there is no answer. */
  readonly detail?: string | undefined
  readonly workflow?: Workflow.Workflow | undefined
  readonly answer?: string | undefined
  readonly confirmed: boolean
  readonly grade?: Grader.Grade | undefined
}

/** A run of the Conductor for training. */
export interface Rollout {
  /** The index within its group, from 0. */
  readonly member: number
  readonly rounds: ReadonlyArray<Round>
  /** Why it was dropped: a failure that the policy did not cause. */
  readonly dropped?: string | undefined
  /** The worker whose failure caused the loss, and the class of the failure: `openai:gpt-5: Overloaded`. */
  readonly lostTo?: string | undefined
  /** The cost in USD of earlier, lost attempts. */
  readonly abandonedCostUsd: number
}

/** The rollouts of one question. */
export interface Group {
  readonly question: Question
  readonly samplerVersion: number
  readonly rollouts: ReadonlyArray<Rollout>
}

/** The storage of rollouts in progress, so that their answers are not paid for again after a crash. */
export interface Kept {
  /** Returns the journal of a rollout, by run id. */
  readonly journalOf: (run: string) => Journal.Journal
  /** Called for each paid call. */
  readonly pay: (run: string, costUsd: number) => void
  /** Called for a run that was lost to a worker failure. */
  readonly lose: (run: string) => void
}

/** Options for rollouts. */
export interface Options {
  readonly config: RolloutConfig
  readonly groupSize: number
  readonly sampler: Sampler
  readonly tokenizer: Tokenizer
  readonly grader: Grader.Grader
  /** The account of the whole training. */
  readonly ledger: Budget.Ledger
  /**
   * Stores rollouts in progress. By default, they are not stored. A rollout is identified by its question, its index in
   * the group, and the version of the weights.
   */
  readonly kept?: Kept | undefined
  /** Limits the number of completions that are sampled concurrently. */
  readonly sampling: Semaphore.Semaphore
  /** Limits the number of rollouts whose workflows run concurrently. */
  readonly running: Semaphore.Semaphore
  /** Makes the policy of a model. Default: a `LanguagePolicy` with the configured prompt. */
  readonly policy?: ((model: Worker) => Policy.Policy) | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The error for a call that would exceed the training's cost limit. */
export class CostLimitReached extends Data.TaggedError("CostLimitReached")<{
  readonly limitUsd: number
  readonly spentUsd: number
}> {
  override get message(): string {
    return `The cost limit of ${this.limitUsd} USD is reached (${this.spentUsd} spent). Resume with a higher limit.`
  }
}

/**
 * The error for a policy that never requested a completion, so that there is no training signal: a configuration error.
 */
export class RolloutError extends Data.TaggedError("RolloutError")<{
  readonly task: string
  readonly detail: string
}> {
  override get message(): string {
    return `No completion was sampled for ${this.task}: ${this.detail}`
  }
}

/** Why rollouts cannot be made. */
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
 * Returns the reward of the paper minus the configured penalties for calls, time, sequential steps and cost; at least
 * 0.
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

/** A policy with the configured prompt, without resampling or fallback: every completion counts. */
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

/** The most items of the steps of a plan in training, unless the run's settings state another number. */
const defaultMaxItems = 8

/**
 * A policy whose plans are refused if their worst case exceeds the budget of a rollout: exploration must not buy a
 * thousand calls. The completion then counts as unreadable.
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

/** Another policy if the Conductor is a worker of its own pool: in nested runs it is not offered itself. */
const withNested = (policy: Policy.Policy, nested: Policy.Policy, { self }: RolloutConfig): Policy.Policy =>
  self ? { ...policy, propose: (context) => Policy.propose(context.self ? policy : nested, context) } : policy

/** Waits for a permit once the first workflow is written. `release` gives it back. */
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

/** Takes the completions that a policy is given of its model. */
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

/** The error that stops a group. Its rollouts then say nothing about the policy, and each can be resumed. */
type Stop = Deferred.Deferred<never, EngineError | CostLimitReached>

/** Pays for rollouts. If the training's limit refuses a payment, the group stops, and no rollout is cut short. */
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

/** A round that shows nothing of the policy: its workers failed, or the grader gave no verdict. */
class Ungraded extends Data.TaggedError("Ungraded")<{
  readonly detail: string
  readonly canRetry: boolean
  readonly lostTo?: string | undefined
}> {}

/**
 * Returns the worker failure in a round that does not count as a verdict on the plan: an outage, a key, a quota, a
 * defect in the worker's code.
 */
const outageIn = ({ runId = "" }: Partial<Transcript.Transcript>, round: Transcript.RoundRecord) =>
  StepFailure.outagesOf({ runId, rounds: [round] }).find(({ step }) => step !== undefined)

/** Returns the grader's verdict, or the reason for its absence. */
const verdict = (given: Effect.Effect<Grader.Grade, Grader.GraderError>): Effect.Effect<Graded, Ungraded> =>
  Effect.mapBoth(given, {
    onSuccess: (grade) => ({ result: grade.correct ? "correct" : "wrong", grade }),
    onFailure: ({ message }) => new Ungraded({ detail: message, canRetry: false })
  })

/** Grades what came of a completion in a run. */
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

/** The outcome of one attempt at a rollout. */
type Attempt =
  | ({ readonly _tag: "Finished"; readonly rounds: ReadonlyArray<Round> } & Pick<Rollout, "dropped" | "lostTo">)
  /** Workers failed, and it is to be run again. */
  | { readonly _tag: "Again"; readonly rounds: ReadonlyArray<Round> }

/** Grades the rounds of a run. The first that cannot be graded decides what becomes of the rollout. */
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

/** One attempt at a rollout. */
interface Attempted {
  readonly member: number
  /** The number of earlier attempts, whose workers failed. */
  readonly attempt: number
  /** The number of earlier starts that were abandoned because their stored calls differ from the present requests. */
  readonly begun: number
}

/** Runs one rollout once. */
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
    // A reward is for the worker that the plan names.
    reassign: "never",
    maxItems: defaultMaxItems,
    ...config.run,
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
    // A journal of the caller's own runs must not receive rollouts.
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

/** Runs one rollout, again while its workers fail and the setting allows it. Its first completion stays the same. */
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
 * Makes the rollouts of one question.
 *
 * **Details**
 *
 * The first completions are sampled in one request. A failed run is data, and `failures` decides its reward. Only
 * engine failures and the training's cost limit are errors.
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
