/** Reserves part of a budget for the answering step (`budget.keep`). */
import type { Amount, Ledger } from "../run/Budget.ts"
import { keep } from "../run/MemoryLedger.ts"
import { cost } from "../task/Usage.ts"
import { outputBound, worstCase } from "../task/WorstCase.ts"
import { workerMessages } from "../workflow/StepMessages.ts"
import { visible } from "../workflow/Workflow.ts"
import type { Plan } from "./plan.ts"
import type { Kept } from "./reserved.ts"

/** Typical maximum number of bytes per token of an answer. A request reserves one token per byte. */
const bytesPerToken = 4

/** Estimates the worst case of a step: its own request, plus the answers that it will see. */
const amountOf = ({ pool, previous, settings, task, workflow }: Plan, step: number): Amount => {
  const { worker: ordinal } = workflow.steps[step]!
  const worker = pool.workers[ordinal]
  if (worker === undefined) return { costUsd: 0, tokens: 0 }
  const outputOf = (step: number) => {
    const { settings: own, worker } = workflow.steps[step]!
    const given = pool.workers[worker]
    const maxOutputTokens = own?.maxOutputTokens ?? settings.worker.maxOutputTokens
    return given === undefined ? 0 : outputBound({ worker: given, request: { messages: [], maxOutputTokens } })
  }
  const messages = workerMessages({ task, workflow, step, previous, answers: [] })
  const own = worstCase({ worker, request: { messages, maxOutputTokens: outputOf(step) } })
  const seen = visible(workflow, step).reduce((sum, one) => sum + bytesPerToken * outputOf(one), 0)
  const ofSeen = cost(worker.pricing, { inputTokens: seen, outputTokens: 0, cacheWriteTokens: seen }) ?? 0
  return { costUsd: own.costUsd === undefined ? undefined : own.costUsd + ofSeen, tokens: own.tokens + seen }
}

/**
 * Reserves the last step's worst case on a ledger. Returns `undefined` if the last step has items or if the steps vote.
 */
export const keepLast = (ledger: Ledger, plan: Plan): Kept | undefined => {
  const { workflow } = plan
  const step = workflow.steps.length - 1
  if (step < 1 || workflow.answer === "majority" || workflow.steps[step]!.each !== undefined) return undefined
  keep(ledger, amountOf(plan, step))
  return { step, release: () => keep(ledger, undefined) }
}
