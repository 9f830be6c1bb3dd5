/** The one fold of events into a transcript. Each event changes the record of the run in place. */

import { defined } from "../Fields.ts"
import type { Paid } from "../task/Usage.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import { type Of, type PoolMember, type RunEvent, version } from "./RunEvent.ts"
import type {
  CheckAnswer,
  CheckRecord,
  CompletionRecord,
  CriticAnswer,
  LostCall,
  Reassignment,
  Recorder,
  RevisionRecord,
  RoundRecord,
  StepRecord,
  ToolRecord,
  Transcript,
  TurnRecord
} from "./Transcript.ts"

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

/** A step that is changed in place as its events come. */
interface OpenTurn extends Mutable<Omit<TurnRecord, "tools">> {
  readonly tools: Array<Mutable<ToolRecord>>
}

/** What is kept as it comes. */
type Lists = "notices" | "checks" | "checkAnswers"

interface OpenStep extends Mutable<Omit<StepRecord, "lost" | "reassigned" | "nested" | "turns" | Lists>> {
  turns?: Array<OpenTurn>
  notices?: Array<string>
  checks?: Array<CheckRecord>
  checkAnswers?: Array<CheckAnswer>
  readonly lost: Array<LostCall>
  readonly reassigned: Array<Reassignment>
  nested?: OpenRun
}

interface OpenRound
  extends Mutable<Omit<RoundRecord, "completions" | "criticAnswers" | "revisions" | "lost" | "steps">> {
  criticAnswers?: Array<CriticAnswer>
  revisions?: Array<RevisionRecord>
  readonly completions: Array<Mutable<CompletionRecord>>
  readonly lost: Array<LostCall>
  steps: Array<OpenStep>
}

interface OpenRun extends Mutable<Omit<Transcript, "rounds">> {
  readonly rounds: Array<OpenRound>
}

const begin = (event: Of<"run-started">): OpenRun => {
  const { at, parent, policy, pool, reason, runId, seed, task } = event
  const run: OpenRun = { version, runId, task, pool, policy, seed, startedAt: at, rounds: [] }
  if (reason !== undefined) run.reason = reason
  if (parent !== undefined) run.parent = parent
  return run
}

const beginRound = ({ at, round }: Of<"round-started">): OpenRound => ({
  round,
  startedAt: at,
  completions: [],
  lost: [],
  notes: [],
  steps: [],
  confirmed: false
})

const waiting = (workflow: Workflow, pool: ReadonlyArray<PoolMember>): Array<OpenStep> =>
  workflow.steps.map(({ worker }, step) => ({
    step,
    worker: pool[worker]?.id ?? "self",
    state: "waiting",
    text: "",
    reasoning: "",
    lost: [],
    reassigned: []
  }))

const paidOf = ({ costUsd, usage }: Paid): Paid => ({ usage, costUsd })

const lostCall = (event: Of<"call-failed" | "call-interrupted" | "call-lost">): LostCall => {
  const call: Mutable<LostCall> = { worker: event.worker, at: event.at, ...paidOf(event) }
  if (event.turn !== undefined) call.turn = event.turn
  if (event.by !== undefined) call.by = event.by
  if (event.chargeId !== undefined) call.chargeId = event.chargeId
  if (event.isRetired !== undefined) call.isRetired = event.isRetired
  if (event.type === "call-lost") call.isInDoubt = true
  if (event.type === "call-failed") {
    call.reason = event.reason
    call.message = event.message
    if (event.retryInMillis !== undefined) call.retryInMillis = event.retryInMillis
    if (event.unasked !== undefined) call.unasked = event.unasked
  }
  return call
}

/** The completion of an attempt that is being written, begun where it is new. */
const completionOf = ({ completions }: OpenRound, attempt: number): Mutable<CompletionRecord> => {
  const known = completions.find((completion) => completion.attempt === attempt && completion.endedAt === undefined)
  if (known !== undefined) return known
  const begun = { attempt, text: "", reasoning: "" }
  completions.push(begun)
  return begun
}

const finishCompletion = (completion: Mutable<CompletionRecord>, event: Of<"completion-finished">) => {
  completion.endedAt = event.at
  completion.text = event.completion
  if (event.error !== undefined) completion.error = event.error
  completion.cached = event.cached
  completion.paid = paidOf(event)
}

const finishStep = (step: OpenStep, event: Of<"step-finished">) => {
  step.state = "answered"
  step.worker = event.worker
  step.endedAt = event.at
  step.durationMillis = event.durationMillis
  step.text = event.answer
  step.finishReason = event.finishReason
  if (event.model !== undefined) step.model = event.model
  step.cached = event.cached
  step.paid = paidOf(event)
}

/** An answer that was told as its check was stopped, and that the check has failed since, is none: it stands in its turn. */
const takeBack = (step: OpenStep) => {
  if (step.state !== "answered") return
  step.state = "running"
  for (const name of ["endedAt", "durationMillis", "finishReason", "model", "cached", "paid"] as const) {
    delete step[name]
  }
}

const finishTurn = (step: OpenStep, event: Of<"turn-finished">) => {
  takeBack(step)
  const { at, cached, durationMillis, echo, error, text, toolCalls, turn, worker } = event
  const record: OpenTurn = {
    turn,
    worker,
    endedAt: at,
    durationMillis,
    text,
    reasoning: step.reasoning,
    tools: toolCalls.map((call) => ({ call })),
    cached,
    paid: paidOf(event)
  }
  if (echo !== undefined) record.echo = echo
  if (error !== undefined) record.error = error
  step.turns ??= []
  step.turns.push(record)
  step.worker = worker
  discard(step)
}

/** A step that waited goes on once it is given something, or somebody else takes it over; or it has ended. */
const goOn = (step: OpenStep) => {
  if (step.state !== "suspended") return
  step.state = "running"
  delete step.waitingFor
}

const onTool = (step: OpenStep, event: Of<"tool-started" | "tool-progress" | "tool-finished">) => {
  goOn(step)
  const tool = step.turns?.find(({ turn }) => turn === event.turn)?.tools[event.index]
  if (tool === undefined) return
  if (event.type === "tool-started") {
    tool.startedAt = event.at
    return
  }
  if (event.type === "tool-progress") {
    const { message, progress, total } = event
    if (tool.endedAt === undefined) tool.progress = defined({ progress, total, message })
    return
  }
  delete tool.progress
  tool.endedAt = event.at
  tool.durationMillis = event.durationMillis
  tool.content = event.content
  tool.isError = event.isError
}

/** Drops the text that a failed call has streamed. */
const discard = (step: OpenStep) => {
  step.text = ""
  step.reasoning = ""
}

const onCheck = (step: OpenStep, event: Of<"check-answered"> | Of<"step-checked">) => {
  const { at, check, turn, worker } = event
  if (event.type === "check-answered") {
    step.checkAnswers ??= []
    step.checkAnswers.push({ turn, at, check, worker, text: event.text, cached: event.cached, ...paidOf(event) })
    return
  }
  const { durationMillis, objection, passed } = event
  step.checks ??= []
  step.checks.push(defined({ turn, at, check, worker, passed, objection, durationMillis }))
}

type StepEvent = Extract<RunEvent, { readonly step: number }> | Of<"call-failed" | "call-interrupted" | "call-lost">

const onStep = (step: OpenStep, event: StepEvent) => {
  switch (event.type) {
    case "step-started":
      step.state = "running"
      step.startedAt = event.at
      return
    case "step-delta":
      step[event.kind] += event.text
      return
    case "call-failed":
      // What was said stays where it is being checked, and where the step was answered another way since.
      if (event.by === undefined && step.state !== "answered") discard(step)
      step.lost.push(lostCall(event))
      return
    case "call-interrupted":
    case "call-lost":
      step.lost.push(lostCall(event))
      return
    case "step-reassigned":
      goOn(step)
      discard(step)
      step.worker = event.to
      step.reassigned.push(defined({ from: event.from, at: event.at, reason: event.reason, message: event.message }))
      return
    case "turn-finished":
      return finishTurn(step, event)
    case "tool-started":
    case "tool-progress":
    case "tool-finished":
      return onTool(step, event)
    case "check-answered":
    case "step-checked":
      return onCheck(step, event)
    case "step-waiting":
      step.state = "suspended"
      step.waitingFor = event.calls
      return
    case "step-notice":
      step.notices ??= []
      step.notices.push(event.notice)
      return
    case "step-finished":
      goOn(step)
      return finishStep(step, event)
    case "step-failed":
      goOn(step)
      step.state = "failed"
      step.endedAt = event.at
      step.durationMillis = event.durationMillis
      step.detail = event.message
      if (event.reason !== undefined) step.reason = event.reason
      return
    case "step-skipped":
      goOn(step)
      step.state = "skipped"
      step.endedAt = event.at
      step.detail = event.reason
  }
}

const propose = (round: OpenRound, event: Of<"workflow-proposed">, pool: ReadonlyArray<PoolMember>) => {
  round.policy = event.policy
  round.plannedAt = event.at
  round.planningMillis = event.durationMillis
  round.workflow = event.workflow
  round.notes = event.notes
  if (event.probability !== undefined) round.probability = event.probability
  round.steps = waiting(event.workflow, pool)
}

type RoundEvent = Exclude<RunEvent, Of<"run-started" | "run-finished" | "round-started">>

const onRound = (round: OpenRound, event: RoundEvent, pool: ReadonlyArray<PoolMember>) => {
  switch (event.type) {
    case "completion-delta":
      completionOf(round, event.attempt)[event.kind] += event.text
      return
    case "completion-finished":
      return finishCompletion(completionOf(round, event.attempt), event)
    case "workflow-proposed":
      return propose(round, event, pool)
    case "critic-answered": {
      const { at, cached, critic, text, worker } = event
      round.criticAnswers ??= []
      round.criticAnswers.push({ at, critic, worker, text, cached, ...paidOf(event) })
      return
    }
    case "round-revised": {
      const { answer, at, decision, durationMillis, notes, policy } = event
      round.revisions ??= []
      round.revisions.push(defined({ at, policy, decision, answer, notes, durationMillis }))
      return
    }
    case "answer-graded": {
      const { at, critic, grade } = event
      round.grade = { at, critic, grade }
      return
    }
    case "round-finished":
      round.endedAt = event.at
      if (event.answer !== undefined) round.answer = event.answer
      round.confirmed = event.confirmed
      return
  }
  const isCall = event.type === "call-failed" || event.type === "call-interrupted" || event.type === "call-lost"
  if (isCall && event.step === undefined) {
    round.lost.push(lostCall(event))
    return
  }
  const step = round.steps[event.step!]
  if (step !== undefined) onStep(step, event)
}

/** Tools that were stopped with their run are no longer at work. */
const stopTools = ({ rounds }: OpenRun) => {
  for (const { steps } of rounds) {
    for (const { turns = [] } of steps) for (const { tools } of turns) for (const tool of tools) delete tool.progress
  }
}

const finish = (run: OpenRun, event: Of<"run-finished">) => {
  stopTools(run)
  run.ending = event.ending
  if (event.answer !== undefined) run.answer = event.answer
  if (event.detail !== undefined) run.detail = event.detail
  run.spend = event.spend
  run.durationMillis = event.durationMillis
}

const onRun = (run: OpenRun, event: Exclude<RunEvent, Of<"run-started">>) => {
  if (event.type === "run-finished") return finish(run, event)
  if (event.type === "round-started") {
    run.rounds.push(beginRound(event))
    return
  }
  const round = run.rounds[event.round]
  if (round !== undefined) onRound(round, event, run.pool)
}

const stepOf = (step: OpenStep): StepRecord => {
  const { checkAnswers, checks, lost, nested, reassigned, turns, ...rest } = step
  const record: Mutable<StepRecord> = { ...rest, lost: [...lost], reassigned: [...reassigned] }
  if (turns !== undefined)
    record.turns = turns.map((turn) => ({ ...turn, tools: turn.tools.map((tool) => ({ ...tool })) }))
  if (checks !== undefined) record.checks = [...checks]
  if (checkAnswers !== undefined) record.checkAnswers = [...checkAnswers]
  if (nested !== undefined) record.nested = transcriptOf(nested)
  return record
}

/** A copy of the record that later events do not change. */
const transcriptOf = (run: OpenRun): Transcript => ({
  ...run,
  rounds: run.rounds.map((round) => ({
    ...round,
    completions: round.completions.map((completion) => ({ ...completion })),
    lost: [...round.lost],
    ...(round.revisions && { revisions: [...round.revisions] }),
    ...(round.criticAnswers && { criticAnswers: [...round.criticAnswers] }),
    steps: round.steps.map(stepOf)
  }))
})

/** Makes a recorder for one run: the first whose events it gets. */
export const recorder = (): Recorder => {
  const runs = new Map<string, OpenRun>()
  let first: OpenRun | undefined
  let taken: Transcript | undefined
  const start = (event: Of<"run-started">) => {
    const { parent } = event
    const step = parent && runs.get(parent.runId)?.rounds[parent.round]?.steps[parent.step]
    if (first !== undefined && step === undefined) return
    const run = begin(event)
    if (step !== undefined) step.nested = run
    first ??= run
    runs.set(event.runId, run)
  }
  return {
    listener: (event) => {
      taken = undefined
      if (event.type === "run-started") return start(event)
      const run = runs.get(event.runId)
      if (run !== undefined) onRun(run, event)
    },
    transcript: () => {
      taken ??= first && transcriptOf(first)
      return taken
    }
  }
}
