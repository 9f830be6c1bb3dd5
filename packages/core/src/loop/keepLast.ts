/** Reserves part of a budget for the answering step (`budget.keep`). */
import type { Amount, Ledger } from "../run/Budget.ts"
import { keep } from "../run/MemoryLedger.ts"
import { cost } from "../task/Usage.ts"
import { jsonBound, outputBound, worstCase } from "../task/WorstCase.ts"
import { axesOf } from "../workflow/program.ts"
import { workerMessages } from "../workflow/StepMessages.ts"
import { visible } from "../workflow/Workflow.ts"
import type { Plan } from "./plan.ts"
import type { Kept } from "./reserved.ts"

/** Typical maximum number of bytes per token of an answer. A request reserves one token per byte. */
const bytesPerToken = 4

/** Bytes around an item in a joined answer, with the reason if it has no answer. */
const lineBytes = 128

/** The largest answer of a step, in tokens of the step that sees it. */
const answerTokens = ({ pool, settings, workflow }: Plan, step: number): number => {
  const { settings: own, worker } = workflow.steps[step]!
  const given = pool.workers[worker]
  const maxOutputTokens = own?.maxOutputTokens ?? settings.worker.maxOutputTokens
  return given === undefined
    ? 0
    : bytesPerToken * outputBound({ worker: given, request: { messages: [], maxOutputTokens } })
}

/** Estimates the worst case of a step: its own request, plus `seen` tokens of answers. */
const amountOf = ({ pool, previous, settings, task, workflow }: Plan, step: number, seen: number): Amount => {
  const { settings: given, worker: ordinal } = workflow.steps[step]!
  const worker = pool.workers[ordinal]
  if (worker === undefined) return { costUsd: 0, tokens: 0 }
  const messages = workerMessages({ task, workflow, step, previous, answers: [] })
  const maxOutputTokens = given?.maxOutputTokens ?? settings.worker.maxOutputTokens
  const own = worstCase({
    worker,
    request: { messages, maxOutputTokens: outputBound({ worker, request: { messages: [], maxOutputTokens } }) }
  })
  const ofSeen = cost(worker.pricing, { inputTokens: seen, outputTokens: 0, cacheWriteTokens: seen }) ?? 0
  return { costUsd: own.costUsd === undefined ? undefined : own.costUsd + ofSeen, tokens: own.tokens + seen }
}

/**
 * Reserves the last step's worst case on a ledger: all answers that it will see, including, for a step with items, the
 * answers that exist or may still arrive. Returns `undefined` if the last step has items or if the steps vote.
 */
export const keepLast = (ledger: Ledger, plan: Plan): Kept | undefined => {
  const { workflow } = plan
  const step = workflow.steps.length - 1
  if (step < 1 || workflow.answer === "majority" || workflow.steps[step]!.each !== undefined) return undefined
  const axes = axesOf(workflow)
  const shown = visible(workflow, step)
  let isReleased = false
  let seen = 0
  const add = (tokens: number) => {
    seen += tokens
    if (!isReleased) keep(ledger, amountOf(plan, step, seen))
  }
  const ofItems = (one: number, tokens: () => number) => {
    if (shown.includes(one)) add(tokens())
  }
  add(shown.reduce((sum, one) => sum + (axes[one]!.length === 0 ? answerTokens(plan, one) : 0), 0))
  return {
    step,
    release: () => {
      isReleased = true
      keep(ledger, undefined)
    },
    unfolded: (one, items) => ofItems(one, () => items.reduce((sum, item) => sum + jsonBound(item) + lineBytes, 0)),
    begin: (one) => ofItems(one, () => answerTokens(plan, one)),
    end: (one, answer) =>
      ofItems(one, () => jsonBound(answer?.type === "failed" ? answer.message : answer?.text) - answerTokens(plan, one))
  }
}
