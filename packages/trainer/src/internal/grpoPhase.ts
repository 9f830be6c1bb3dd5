/**
 * Reinforcement learning phase. Each iteration collects rollouts and trains on them. Within the off-policy limit,
 * rollouts for the next iterations are collected at the same time.
 *
 * Which weights an iteration is sampled from depends only on its number, never on timing. Resuming a killed run
 * therefore gives the same result. After a checkpoint, the next iteration is always sampled from the saved weights.
 */
import type { Journal } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { CurriculumError } from "../Curriculum.ts"
import * as Curriculum from "../Curriculum.ts"
import type { Datum, EngineError, Loss, OptimizerStep, Pass, Sampler } from "../Engine.ts"
import type { MachinesError } from "../Machines.ts"
import type { GrpoMetrics } from "../Metrics.ts"
import * as Objective from "../Objective.ts"
import * as Rollout from "../Rollout.ts"
import type { RunFolderError } from "../RunFolder.ts"
import type { TaskSource } from "../TaskSource.ts"
import type { GrpoConfig } from "../TrainingConfig.ts"
import { OutageError, type TrainingError } from "../TrainingError.ts"
import * as EngineCost from "./engineCost.ts"
import * as Batch from "./grpoBatch.ts"
import * as Records from "./grpoRecords.ts"
import * as KeptRollouts from "./keptRollouts.ts"
import * as Reference from "./reference.ts"
import type { StopRequested } from "./session.ts"
import * as Session from "./session.ts"
import { optimizerSettings } from "./warmStartPhase.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Running phase. */
interface Phase {
  readonly session: Session.Session
  readonly config: GrpoConfig
  readonly tasks: TaskSource
  readonly seed: number
  readonly sampling: Semaphore.Semaphore
  readonly running: Semaphore.Semaphore
  /** Number of iterations of the phase that were complete when this process started. */
  readonly first: number
  /** Number of iterations in earlier phases. */
  readonly before: number
  /**
   * Number of consecutive lost rollouts, counted across iterations. Reset when a rollout that called a worker gets a
   * verdict.
   */
  readonly outage: { lost: number }
}

/** Rollouts collected for an iteration. */
interface Collected {
  readonly groups: ReadonlyArray<Batch.GroupAdvantages>
  /** Groups to train on. */
  readonly chosen: ReadonlyArray<Batch.GroupAdvantages>
  readonly samplerVersion: number
  /** Next position in the source. */
  readonly position: number
  readonly seconds: number
}

type CollectError =
  | CurriculumError
  | MachinesError
  | RunFolderError
  | Exclude<Rollout.RolloutFailure, Journal.JournalError>

/** Rollouts being collected, keyed by iteration within the phase. */
type Collecting = Map<number, Deferred.Deferred<Collected, CollectError>>

// -------------------------------------------------------------------------------------------------------------------
// Collecting
// -------------------------------------------------------------------------------------------------------------------

/** Collects the groups at the given positions of the source. */
const collectGroups = Effect.fnUntraced(function* (
  phase: Phase,
  phaseIteration: number,
  sampler: Sampler,
  positions: ReadonlyArray<number>,
  progress: { done: number; total: number }
): Effect.fn.Return<ReadonlyArray<Batch.GroupAdvantages>, CollectError> {
  const { config, session, tasks } = phase
  const { parts } = session
  const { groupSize, rollouts } = config
  const options: Rollout.Options = {
    config: rollouts,
    groupSize,
    sampler,
    tokenizer: parts.engine.tokenizer,
    grader: parts.grader,
    ledger: session.ledger,
    kept: session.kept?.ofPhase(session.standing.phase),
    sampling: phase.sampling,
    running: phase.running,
    policy: parts.policy && ((model) => parts.policy!(model, config))
  }
  const curriculum: Curriculum.Parts = {
    tasks,
    pool: parts.pool,
    isHeldOut: parts.isHeldOut
  }
  const questionAt = (position: number) => Curriculum.question(curriculum, config, phase.seed, position)
  const groupOf = (question: Curriculum.Question) =>
    Effect.catchTag(Rollout.group(question, options), "JournalError", (error) =>
      Effect.fail(KeptRollouts.unusable(session.folder.folder)(error))
    )
  const done = Effect.gen(function* () {
    progress.done += 1
    yield* Session.writeSpent(session)
    yield* session.emit({
      type: "group-finished",
      iteration: phase.before + phaseIteration,
      phase: config.name,
      done: progress.done,
      total: progress.total,
      costUsd: Session.spentUsd(session)
    })
  })
  // Sampling waits for free workflow slots, so there are never more open groups than sampling and execution can handle
  // together.
  const concurrency = rollouts.samplingConcurrency + Math.ceil(rollouts.runConcurrency / groupSize)
  const { lead } = session
  if (lead === undefined) {
    const one = (position: number) => Effect.tap(Effect.flatMap(questionAt(position), groupOf), () => done)
    const groups = yield* Effect.forEach(positions, one, { concurrency })
    return groups.map((group) => Batch.advantages(group, config.advantage))
  }
  const all = yield* lead.groups<CollectError>({
    phase: session.standing.phase,
    phaseIteration,
    sampler,
    positions,
    concurrency,
    make: (position) => Effect.flatMap(questionAt(position), groupOf),
    onGroup: done
  })
  const questions = yield* Effect.forEach(positions, questionAt)
  return all.map((rollouts, at) =>
    Batch.advantages({ question: questions[at]!, samplerVersion: sampler.version, rollouts }, config.advantage)
  )
})

const range = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at)

/**
 * Collects the rollouts of an iteration. With `resample`, groups without a training signal are replaced by new
 * questions.
 */
const collect = Effect.fnUntraced(function* (
  phase: Phase,
  phaseIteration: number,
  sampler: Sampler,
  from: number
): Effect.fn.Return<Collected, CollectError> {
  const { advantage, questions } = phase.config
  const watch = yield* Session.stopwatch
  const progress = { done: 0, total: questions }
  const groups = [...(yield* collectGroups(phase, phaseIteration, sampler, range(from, questions), progress))]
  const { zeroVariance } = advantage
  const most = zeroVariance.type === "resample" ? Math.floor(questions * (1 + zeroVariance.maxExtra)) : questions
  const chosenOf = () => groups.filter((group) => !Batch.teachesNothing(group)).slice(0, questions)
  while (chosenOf().length < questions && groups.length < most) {
    const missing = Math.min(questions - chosenOf().length, most - groups.length)
    progress.total += missing
    const positions = range(from + groups.length, missing)
    groups.push(...(yield* collectGroups(phase, phaseIteration, sampler, positions, progress)))
  }
  return {
    groups,
    chosen: zeroVariance.type === "resample" ? chosenOf() : groups,
    samplerVersion: sampler.version,
    position: from + groups.length,
    seconds: (yield* watch.seconds).total
  }
})

/** Returns after how many iterations the weights used for sampling this iteration are taken. */
const sampledAfter = (phase: Phase, phaseIteration: number): number => {
  const ahead = Math.floor(phase.config.offPolicySteps / phase.config.minibatches)
  for (let done = phaseIteration; done > Math.max(phase.first, phaseIteration - ahead); done--) {
    if (Session.isBoundary(phase.session, phase.before + done)) return done
  }
  return Math.max(phase.first, phaseIteration - ahead)
}

/** Starts collecting the iterations that are sampled from the current weights, after those already in progress. */
const startCollecting = Effect.fnUntraced(function* (
  phase: Phase,
  collecting: Collecting,
  done: number,
  from: number
): Effect.fn.Return<void, EngineError, Scope.Scope> {
  const { config, session } = phase
  const next = Math.max(done, ...[...collecting.keys()].map((iteration) => iteration + 1))
  const mine: Array<number> = []
  for (let one = next; one < config.iterations && sampledAfter(phase, one) === done; one++) mine.push(one)
  if (mine.length === 0) return
  const last = collecting.get(next - 1)
  const deferreds = yield* Effect.forEach(mine, () => Deferred.make<Collected, CollectError>())
  mine.forEach((iteration, at) => {
    collecting.set(iteration, deferreds[at]!)
  })
  // Take the snapshot now, before the weights change.
  const scope = yield* Scope.fork(yield* Effect.scope)
  const sampler = yield* Scope.provide(session.parts.engine.sampler, scope)
  const all = Effect.gen(function* () {
    let position = last === undefined ? from : (yield* Deferred.await(last)).position
    for (const [at, iteration] of mine.entries()) {
      const exit = yield* Effect.exit(collect(phase, iteration, sampler, position))
      yield* Deferred.done(deferreds[at]!, exit)
      if (Exit.isFailure(exit)) return
      position = exit.value.position
    }
  })
  // Start immediately, so that the first requests are in flight before training begins.
  yield* Effect.forkScoped(
    Effect.ensuring(
      Effect.catchCause(all, (cause) => Effect.forEach(deferreds, (one) => Deferred.failCause(one, cause))),
      Scope.close(scope, Exit.void)
    ),
    { startImmediately: true }
  )
})

// -------------------------------------------------------------------------------------------------------------------
// Learning
// -------------------------------------------------------------------------------------------------------------------

/** Result of the optimizer steps of an iteration. */
interface Learned {
  readonly steps: ReadonlyArray<OptimizerStep>
  readonly learningRate: number
  readonly passes: ReadonlyArray<{ readonly data: ReadonlyArray<Datum>; readonly pass: Pass }>
  readonly referenceDivergence?: number | undefined
}

const chunk = <A>(items: ReadonlyArray<A>, index: number, of: number): ReadonlyArray<A> =>
  items.slice(Math.floor((index * items.length) / of), Math.floor(((index + 1) * items.length) / of))

const learn = Effect.fnUntraced(function* (
  phase: Phase,
  phaseIteration: number,
  chosen: ReadonlyArray<Batch.GroupAdvantages>,
  loss: Loss,
  watch: Session.Stopwatch
): Effect.fn.Return<Learned, TrainingError> {
  const { config, session } = phase
  const { engine } = session.parts
  const { iterations, minibatches, optimizer } = config
  const batches = Array.from({ length: minibatches }, (_, part) =>
    Batch.learnedCompletions(chunk(chosen, part, minibatches), config, engine.tokenizer)
  )
  // The reference weights do not change during an iteration, so compute their log-probabilities once for all batches.
  const references = yield* watch.time("reference", Reference.logProbs(session, config, batches.flat()))
  const steps: Array<OptimizerStep> = []
  const passes: Array<{ readonly data: ReadonlyArray<Datum>; readonly pass: Pass }> = []
  const divergences: Array<number> = []
  let learningRate = 0
  let seen = 0
  for (const [part, completions] of batches.entries()) {
    const settings = optimizerSettings(optimizer, phaseIteration * minibatches + part, iterations * minibatches)
    learningRate = settings.learningRate
    if (completions.length === 0) continue
    const reference = references?.slice(seen, seen + completions.length)
    seen += completions.length
    const data = Batch.data(completions, config.objective, reference)
    if (reference !== undefined) divergences.push(Reference.divergence(completions, reference))
    const pass = yield* watch.time("gradient", engine.forwardBackward(data, loss))
    steps.push(yield* watch.time("step", engine.step(settings)))
    passes.push({ data, pass })
  }
  return {
    steps,
    learningRate,
    passes,
    referenceDivergence:
      divergences.length === 0 ? undefined : divergences.reduce((sum, one) => sum + one, 0) / divergences.length
  }
})

const meanEntropy = (passes: Learned["passes"]): number | undefined => {
  let sum = 0
  let tokens = 0
  for (const { pass } of passes) {
    for (const entropies of pass.entropies ?? []) {
      for (const entropy of entropies) sum += entropy
      tokens += entropies.length
    }
  }
  return tokens === 0 ? undefined : sum / tokens
}

/** Returns the metrics of the optimizer steps. */
const learningMetrics = ({ learningRate, passes, referenceDivergence, steps }: Learned, loss: Loss) => {
  const all = passes.flatMap(({ data }) => data)
  const distances = passes.map(({ data, pass }) => Objective.distance(loss, data, pass.logProbs))
  const tokens = distances.reduce((sum, one) => sum + one.tokens, 0)
  const entropy = meanEntropy(passes)
  const last = steps.at(-1)
  const losses = passes.flatMap(({ pass }) => (pass.loss === undefined ? [] : [pass.loss]))
  return {
    learningRate,
    gradientNorm: last?.gradientNorm,
    loss: losses.length === 0 ? undefined : losses.reduce((sum, one) => sum + one, 0),
    tokens: {
      completion: tokens,
      prompt: all.reduce((sum, { prompt }) => sum + prompt.length, 0)
    },
    entropy,
    clipped: tokens === 0 ? 0 : distances.reduce((sum, one) => sum + one.clipped, 0) / tokens,
    samplerDivergence: tokens === 0 ? 0 : distances.reduce((sum, one) => sum + one.divergence, 0) / tokens,
    referenceDivergence
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The loop
// -------------------------------------------------------------------------------------------------------------------

/**
 * Maximum number of consecutive rollouts that may call a worker and be lost without a verdict. Beyond it, the workers
 * are considered down.
 */
const mostLost = 8

/**
 * Stops the run if all workers are down, so that an iteration without a training signal is not counted. The run can be
 * resumed.
 */
const checkOutage = Effect.fnUntraced(function* (
  { config, outage, session }: Phase,
  { groups }: Collected
): Effect.fn.Return<void, TrainingError> {
  const { lost, lostTo } = Records.rolloutMetrics(groups, config.questions)
  const isAnswered = groups.some(({ group }) =>
    group.rollouts.some(({ dropped, rounds }) => dropped === undefined && rounds.some(({ calls }) => calls > 0))
  )
  outage.lost = isAnswered ? 0 : outage.lost + lost
  if (outage.lost < mostLost) return
  // The failure is stored with the rollout; without removing it, a resumed run would read it again instead of making a
  // new call.
  const remove = session.kept?.forgetLost()
  yield* Session.writeSpent(session, true)
  if (remove !== undefined) yield* remove
  yield* Session.checkpoint(session)
  return yield* new OutageError({ iteration: session.standing.iteration, rollouts: outage.lost, lostTo })
})

/** Returns the engine cost of an iteration, in USD. */
const engineCost = ({ parts }: Session.Session, { groups }: Collected, learned: Learned): number => {
  const data = learned.passes.flatMap((pass) => pass.data)
  const looked = learned.referenceDivergence === undefined ? [] : data
  return (
    EngineCost.ofSampling(parts.engine, groups) +
    EngineCost.ofLearning(parts.engine, data) +
    EngineCost.ofForward(parts.reference ?? parts.engine, looked)
  )
}

const runIteration = Effect.fnUntraced(function* (
  phase: Phase,
  collecting: Collecting,
  known: number | undefined
): Effect.fn.Return<number, TrainingError | StopRequested | Rollout.CostLimitReached, Scope.Scope> {
  const { config, session } = phase
  const { iteration, phaseIteration } = session.standing
  const place = { iteration, phase: config.name }
  const watch = yield* Session.stopwatch
  yield* startCollecting(phase, collecting, phaseIteration, session.standing.position)
  const waiting = Deferred.await(collecting.get(phaseIteration)!)
  const collected = yield* watch.time("wait", Session.stoppable(session, waiting))
  collecting.delete(phaseIteration - 1)
  // In this process, the first iteration is sampled from the current weights.
  const version = known ?? collected.samplerVersion
  yield* checkOutage(phase, collected)

  const loss = Objective.lossOf(config.objective)
  const learned = yield* learn(phase, phaseIteration, collected.chosen, loss, watch)
  if (session.folder.config.recordRollouts) {
    yield* watch.time("write", session.folder.writeRollouts(iteration, Records.records(collected.groups, place)))
  }
  const evaluation = yield* watch.time("evaluate", Session.evaluate(session, iteration + 1))
  const rollouts = Records.rolloutMetrics(collected.groups, config.questions)
  const engineCostUsd = engineCost(session, collected, learned)
  const metrics: GrpoMetrics = {
    type: "grpo",
    ...place,
    phaseIteration,
    version: learned.steps.at(-1)?.version ?? version,
    ...rollouts,
    ...learningMetrics(learned, loss),
    lag: version - collected.samplerVersion,
    costUsd: session.standing.costUsd + rollouts.iterationCostUsd + engineCostUsd,
    engineCostUsd: session.parts.engine.pricing && engineCostUsd,
    at: yield* Clock.currentTimeMillis,
    seconds: { ...(yield* watch.seconds), collect: collected.seconds },
    evaluation
  }
  yield* Session.finish(session, metrics, collected.position, phaseIteration + 1 === config.iterations)
  return metrics.version
})

/** Runs the remaining iterations of the phase. */
export const run = Effect.fnUntraced(function* (
  session: Session.Session,
  config: GrpoConfig,
  tasks: TaskSource,
  seed: number
): Effect.fn.Return<void, TrainingError | StopRequested | Rollout.CostLimitReached> {
  yield* Reference.begin(session, config)
  const { iteration, phase: index, phaseIteration } = session.standing
  const { runConcurrency, samplingConcurrency } = config.rollouts
  const phase: Phase = {
    session,
    config,
    tasks,
    seed,
    sampling: yield* Semaphore.make(samplingConcurrency * config.groupSize),
    running: yield* Semaphore.make(runConcurrency),
    first: phaseIteration,
    before: iteration - phaseIteration,
    outage: { lost: 0 }
  }
  const collecting: Collecting = new Map()
  yield* Effect.scoped(
    Effect.gen(function* () {
      let version: number | undefined
      while (session.standing.phase === index) {
        yield* Session.checkStop(session)
        yield* Session.checkCost(session)
        version = yield* runIteration(phase, collecting, version)
      }
    })
  )
})
