/** Checks of what steps gave: run, charged, told, and found again where a run is resumed. */
import * as Effect from "effect/Effect"
import { millisSince, ticks } from "../Elapsed.ts"
import { defined } from "../Fields.ts"
import type { Answered, CallContext } from "../loop/call.ts"
import * as Seed from "../Seed.ts"
import { type Check, type Checks, isAsking, objectionTo } from "../task/Check.ts"
import type { Context as CriticContext } from "../task/Critic.ts"
import type { Task } from "../task/Task.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import type { Verdict } from "../workflow/StepMessages.ts"
import type { Step, StepCheck } from "../workflow/Workflow.ts"
import { noteFailure } from "./noteFailure.ts"

/** The step whose answers are checked, and how far that is: where another worker takes over, it is checked again. */
export interface Checking {
  readonly task: Task
  readonly pool: WorkerPool
  readonly checks: Checks
  readonly threshold: number
  readonly seed: number
  readonly round: number
  readonly step: number
  readonly of: Step & { readonly check: StepCheck }
  checked: number
  asked: number
}

/** The check of a step, which the workflow was held to have. */
const checkOf = ({ checks, of, pool }: Checking): Check =>
  typeof of.check.by === "string" ? checks[of.check.by]! : pool.workers[of.check.by]!

/** A check as the run's record names it. */
const nameOf = ({ of, pool }: Checking): string =>
  typeof of.check.by === "string" ? of.check.by : pool.workers[of.check.by]!.id

/** Asks a worker for a check: charged and told like any other call. */
const asking = (context: CallContext, checking: Checking): CriticContext["ask"] => {
  const { round, seed, step } = checking
  return (worker, request) =>
    Effect.suspend(() => {
      const turn = checking.asked++
      let given: Answered | undefined
      const onAnswer = (answered: Answered) => {
        given = answered
        const { cached, costUsd, text, usage } = answered
        const place = { round, step, turn, check: nameOf(checking), worker: worker.id }
        context.emit?.({ type: "check-answered", ...place, text, cached, usage, costUsd })
      }
      const sample = Seed.derive(seed, "check", step, turn)
      const made = context.call({ worker, request, sample, round, step, by: "check", turn, onAnswer })
      return Effect.map(noteFailure(context, { round, step, by: "check" }, made), () => given!)
    })
}

/** What the check of a step finds of what its worker said. What it found before is found again. */
export const verdictOf = (
  context: CallContext,
  checking: Checking,
  worker: string,
  { finishReason, text: answer }: Answered
): Effect.Effect<Verdict, BudgetExceeded> =>
  Effect.suspend(() => {
    const { of, round, step, task, threshold } = checking
    const check = checkOf(checking)
    const turn = checking.checked++
    const startedAt = ticks(context.clock)
    const known = context.recorded?.verdict(round, step, turn)
    const checked = { task, subtask: of.subtask, answer, threshold, ask: asking(context, checking) }
    const found =
      finishReason === "refusal"
        ? Effect.succeed("Its worker declined to answer.")
        : known !== undefined && !isAsking(check)
          ? Effect.succeed(known.objection)
          : objectionTo(check, checked)
    return Effect.map(found, (now) => {
      const objection = known === undefined ? now : known.objection
      const passed = objection === undefined
      const durationMillis = millisSince(context.clock, startedAt)
      const told = { type: "step-checked", round, step, turn, check: nameOf(checking), worker } as const
      context.emit?.(defined({ ...told, passed, objection, durationMillis }))
      return { passed, objection }
    })
  })
