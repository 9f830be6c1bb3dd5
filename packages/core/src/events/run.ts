/** The events `run-started` and `run-finished`: the first and the last event of a run. */
import type { Task } from "../task/Task.ts"
import type { Spend } from "../task/Usage.ts"
import { type Attributes, messagesText, setAnswer } from "./Attributes.ts"
import type { OpenRun } from "./OpenRecord.ts"
import type { Ending, ForkOf, Parent, PoolMember, Stamped, version } from "./RunEvent.ts"
import type { StepFailure } from "./StepFailure.ts"
import type { PartialAnswer } from "./Transcript.ts"

/** Emitted when a run starts. */
export interface RunStarted {
  readonly type: "run-started"
  readonly version: typeof version
  readonly task: Task
  readonly pool: ReadonlyArray<PoolMember>
  readonly policy: string
  /** Why this policy is used (see `Policy.reason`). */
  readonly reason?: string
  readonly seed: number
  /** Set if the run is nested in a step of another run. */
  readonly parent?: Parent
  /** Set if the run was forked from another run, which has paid for everything before the forked step. */
  readonly forkOf?: ForkOf
}

/** Emitted when a run has ended, for any reason. */
export interface RunFinished {
  readonly type: "run-finished"
  readonly ending: Ending
  readonly answer?: string
  /** Set if the run ended without an answer, but produced the text of a step or a draft. */
  readonly partial?: PartialAnswer
  /** Human-readable detail: the limit or error that stopped the run, or why an answered run has no further rounds. */
  readonly detail?: string
  /** Set if the worker of a step or plan failed after all retries. */
  readonly failures?: ReadonlyArray<StepFailure>
  readonly spend: Spend
  readonly durationMillis: number
}

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

export const begin = (event: Stamped<RunStarted>): OpenRun => {
  const { at, forkOf, parent, policy, pool, reason, runId, seed, task, version } = event
  const run: OpenRun = { version, runId, task, pool, policy, seed, startedAt: at, rounds: [] }
  if (reason !== undefined) run.reason = reason
  if (parent !== undefined) run.parent = parent
  if (forkOf !== undefined) run.forkOf = forkOf
  return run
}

/** Clears the progress of tools that were stopped along with the run. */
const stopTools = ({ rounds }: OpenRun) => {
  for (const { steps } of rounds) {
    for (const { turns = [] } of steps) for (const { tools } of turns) for (const tool of tools) delete tool.progress
  }
}

export const foldFinished = (run: OpenRun, event: Stamped<RunFinished>): void => {
  stopTools(run)
  run.ending = event.ending
  if (event.answer !== undefined) run.answer = event.answer
  if (event.partial !== undefined) run.partial = event.partial
  if (event.detail !== undefined) run.detail = event.detail
  run.spend = event.spend
  run.durationMillis = event.durationMillis
}

// -------------------------------------------------------------------------------------------------------------------
// Span
// -------------------------------------------------------------------------------------------------------------------

export const describeStarted = (span: Attributes, event: Stamped<RunStarted>, content: boolean): void => {
  span.attribute("gen_ai.operation.name", "invoke_workflow")
  span.attribute("gen_ai.workflow.name", event.policy)
  span.attribute("divisi.run.id", event.runId)
  span.attribute("divisi.task.id", event.task.id)
  span.attribute("divisi.seed", event.seed)
  if (event.forkOf !== undefined) span.attribute("divisi.fork_of", event.forkOf.runId)
  if (content) span.attribute("gen_ai.input.messages", messagesText(event.task.messages))
}

export const describeFinished = (span: Attributes, { answer, ending, spend }: RunFinished, content: boolean): void => {
  span.attribute("divisi.ending", ending)
  span.attribute("divisi.spend.cost_usd", spend.costUsd)
  span.attribute("divisi.spend.calls", spend.calls)
  span.attribute("divisi.spend.unpriced_calls", spend.unpricedCalls)
  span.attribute("divisi.spend.input_tokens", spend.usage.inputTokens)
  span.attribute("divisi.spend.output_tokens", spend.usage.outputTokens)
  if (content && answer !== undefined) setAnswer(span, answer, "stop")
}
