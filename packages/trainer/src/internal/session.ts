/** State shared by the phases of a run: its progress, reporting and checkpoints. */
import { type Budget, Callback } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { EngineError } from "../Engine.ts"
import type { Lead } from "../Machines.ts"
import type { Metrics } from "../Metrics.ts"
import { CostLimitReached } from "../Rollout.ts"
import type { RunFolder, RunFolderError } from "../RunFolder.ts"
import type { TrainerState } from "../RunLayout.ts"
import * as SamplerWorker from "../SamplerWorker.ts"
import type { Parts } from "../Trainer.ts"
import { EvaluationError, type TrainingError } from "../TrainingError.ts"
import type { TrainingEvent } from "../TrainingEvent.ts"
import type { KeptRollouts } from "./keptRollouts.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Progress of a run between two checkpoints. */
export type Standing = Omit<TrainerState, "engine" | "files">

/** Training run in progress. */
export interface Session {
  readonly parts: Parts
  readonly folder: RunFolder
  readonly emit: (event: WithoutTime<TrainingEvent>) => Effect.Effect<void>
  /** The account for this process's spending on the run. */
  readonly ledger: Budget.Ledger
  /** Rollouts that are not covered by a checkpoint. `undefined` if rollouts are not stored. */
  readonly kept: KeptRollouts | undefined
  /** The machines that run rollouts together. Omitted if there is only one. */
  readonly lead?: Lead | undefined
  /** USD spent on the run by earlier processes. */
  readonly spentBeforeUsd: number
  /** Completed when the run is asked to stop. */
  readonly stopped: Deferred.Deferred<void>
  standing: Standing
  /** Iteration of the last checkpoint. */
  saved: number | undefined
}

type WithoutTime<A> = A extends unknown ? Omit<A, "at"> : never

/** Raised when the run was asked to stop. */
export class StopRequested extends Data.TaggedError("StopRequested") {}

// -------------------------------------------------------------------------------------------------------------------
// Operations
// -------------------------------------------------------------------------------------------------------------------

/** Returns the total spend of the run in USD, including lost work. */
export const spentUsd = (session: Session): number => session.spentBeforeUsd + session.ledger.spent().costUsd

/** Records the spend if it changed. Payments for stored rollouts are recorded with their answers instead. */
export const writeSpent = (session: Session, isDurable = false): Effect.Effect<void, RunFolderError> => {
  const { folder, kept, ledger } = session
  if (kept === undefined && ledger.spent().costUsd === 0) return Effect.void
  const costUsd = Math.max(0, spentUsd(session) - (kept?.paidUsd() ?? 0))
  return folder.writeSpent({ costUsd, mark: kept?.mark() ?? folder.spent.mark }, isDurable)
}

/** Removes the stored rollouts that a checkpoint covers, after recording their payments. */
const settleKept = (session: Session): Effect.Effect<void, RunFolderError> => {
  const { kept, standing } = session
  if (kept === undefined) return Effect.void
  kept.setMark({ phase: standing.phase, position: standing.position })
  return Effect.andThen(writeSpent(session, true), kept.prune)
}

/** Fails if the run was asked to stop. Called between iterations. */
export const checkStop = (session: Session): Effect.Effect<void, StopRequested> =>
  Effect.suspend(() => (Deferred.isDoneUnsafe(session.stopped) ? Effect.fail(new StopRequested()) : Effect.void))

/** Fails if the engine has used up the cost limit. Worker calls check the limit separately. */
export const checkCost = (session: Session): Effect.Effect<void, CostLimitReached> =>
  Effect.suspend(() => {
    const { limits, spent } = session.ledger
    const { costUsd: limitUsd } = limits
    return session.parts.engine.pricing === undefined || limitUsd === undefined || spent().costUsd < limitUsd
      ? Effect.void
      : Effect.fail(new CostLimitReached({ limitUsd, spentUsd: spent().costUsd }))
  })

/** Runs work that is interrupted if the run is asked to stop. */
export const stoppable = <A, E>(session: Session, work: Effect.Effect<A, E>): Effect.Effect<A, E | StopRequested> =>
  Effect.raceFirst(work, Effect.andThen(Deferred.await(session.stopped), Effect.fail(new StopRequested())))

/** Saves a checkpoint, unless this iteration already has one. */
export const checkpoint = Effect.fnUntraced(function* (
  session: Session
): Effect.fn.Return<void, RunFolderError | EngineError> {
  yield* writeSpent(session)
  if (session.saved === session.standing.iteration) return
  yield* session.folder.checkpoint(session.parts.engine, session.standing)
  session.saved = session.standing.iteration
  yield* settleKept(session)
  yield* session.emit({
    type: "checkpoint-saved",
    iteration: session.standing.iteration,
    isBest: session.standing.best?.iteration === session.standing.iteration
  })
})

/** Whether the configuration requires a checkpoint after this many iterations. */
export const isBoundary = ({ folder }: Session, done: number): boolean =>
  done % folder.config.checkpoints.every === 0 ||
  (folder.config.evaluateEvery > 0 && done % folder.config.evaluateEvery === 0)

/** Runs the held-out evaluation if one is due after this many iterations. */
export const evaluate = Effect.fnUntraced(function* (
  session: Session,
  done: number
): Effect.fn.Return<Readonly<Record<string, number>> | undefined, TrainingError> {
  const { folder, parts } = session
  const every = folder.config.evaluateEvery
  if (parts.evaluate === undefined || every === 0 || done % every !== 0) return undefined
  const { evaluate } = parts
  return yield* Effect.scoped(
    Effect.flatMap(parts.engine.sampler, (sampler) =>
      Effect.mapError(
        Callback.called("evaluate", () =>
          evaluate({
            iteration: done,
            sampler,
            model: SamplerWorker.make({ sampler, engine: parts.engine }),
            engine: parts.engine
          })
        ),
        (error) =>
          new EvaluationError({
            iteration: done,
            detail: error instanceof Error ? error.message : String(error)
          })
      )
    )
  )
})

/** Sums the seconds spent on each kind of work. */
export interface Stopwatch {
  readonly time: <A, E, R>(name: string, work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly seconds: Effect.Effect<Readonly<Record<string, number>> & { readonly total: number }>
}

/** Starts a stopwatch. */
export const stopwatch: Effect.Effect<Stopwatch> = Effect.map(Clock.monotonicTimeNanos, (started) => {
  const seconds: Record<string, number> = {}
  return {
    time: (name, work) =>
      Effect.map(Effect.timed(work), ([taken, value]) => {
        seconds[name] = (seconds[name] ?? 0) + Duration.toSeconds(taken)
        return value
      }),
    seconds: Effect.map(Clock.monotonicTimeNanos, (now) => ({
      ...seconds,
      total: Duration.toSeconds(Duration.nanos(now - started))
    }))
  }
})

/** Ends an iteration: writes its metrics, advances the progress, and saves a checkpoint if one is due. */
export const finish = Effect.fnUntraced(function* (
  session: Session,
  metrics: Metrics,
  position: number,
  isLastOfPhase: boolean
): Effect.fn.Return<void, TrainingError> {
  const { best, reference, ...standing } = session.standing
  const iteration = standing.iteration + 1
  yield* session.folder.appendMetrics(metrics)
  yield* session.emit({ type: "iteration-finished", metrics, costUsd: spentUsd(session) })
  const score = metrics.evaluation?.[session.parts.bestBy ?? "score"]
  const isBest = score !== undefined && (best === undefined || score > best.score)
  const newBest = isBest ? { iteration, score } : best
  session.standing = {
    ...standing,
    iteration,
    costUsd: metrics.costUsd,
    best: newBest,
    ...(isLastOfPhase
      ? { phase: standing.phase + 1, phaseIteration: 0, position: 0 }
      : {
          phaseIteration: standing.phaseIteration + 1,
          position,
          reference
        })
  }
  if (isLastOfPhase || isBoundary(session, iteration)) yield* checkpoint(session)
})
