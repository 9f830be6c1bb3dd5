/** Folds events into a transcript. Each event updates the record of its run in place. */
import * as Approval from "./approval.ts"
import * as Call from "./call.ts"
import * as Check from "./check.ts"
import * as Completion from "./completion.ts"
import * as Critic from "./critic.ts"
import { type Mutable, type OpenRound, type OpenRun, type OpenStep, recordAt } from "./OpenRecord.ts"
import * as Plan from "./plan.ts"
import type { Of, RunEvent } from "./RunEvent.ts"
import * as Reassignment from "./reassignment.ts"
import * as Revision from "./revision.ts"
import * as Round from "./round.ts"
import * as Run from "./run.ts"
import * as Step from "./step.ts"
import * as Suspension from "./suspension.ts"
import type { Recorder, StepRecord, Transcript } from "./Transcript.ts"
import * as Tool from "./tool.ts"
import * as Turn from "./turn.ts"

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

type OfStep = Exclude<
  Extract<RunEvent, { readonly step: number }>,
  Of<"call-failed" | "call-interrupted" | "call-lost">
>

const foldInStep = (step: OpenStep, event: OfStep) => {
  switch (event.type) {
    case "step-started":
      return Step.foldStarted(step, event)
    case "step-unfolded":
      return Step.foldUnfolded(step, event)
    case "step-joined":
      return Step.foldJoined(step, event)
    case "step-delta":
      return Step.foldDelta(step, event)
    case "turn-finished":
      return Turn.fold(step, event)
    case "tool-started":
      return Tool.foldStarted(step, event)
    case "tool-progress":
      return Tool.foldProgress(step, event)
    case "tool-finished":
      return Tool.foldFinished(step, event)
    case "step-waiting":
      return Suspension.fold(step, event)
    case "step-notice":
      return Step.foldNotice(step, event)
    case "step-reassigned":
      return Reassignment.fold(step, event)
    case "check-answered":
      return Check.foldAnswered(step, event)
    case "step-checked":
      return Check.foldChecked(step, event)
    case "step-finished":
      return Step.foldFinished(step, event)
    case "step-failed":
      return Step.foldFailed(step, event)
    case "step-skipped":
      return Step.foldSkipped(step, event)
    default:
      event satisfies never
  }
}

type OfRound = Exclude<RunEvent, Of<"run-started" | "run-finished" | "round-started">>

const foldInRound = (run: OpenRun, round: OpenRound, event: OfRound) => {
  switch (event.type) {
    case "completion-delta":
      return Completion.foldDelta(round, event)
    case "completion-finished":
      return Completion.foldFinished(round, event)
    case "workflow-proposed":
      return Plan.fold(round, event, run.pool)
    case "plan-waiting":
      return Approval.foldWaiting(round, event)
    case "plan-decided":
      return Approval.foldDecided(round, event)
    case "call-failed":
    case "call-interrupted":
    case "call-lost":
      return Call.fold(round, event)
    case "critic-answered":
      return Critic.foldAnswered(round, event)
    case "answer-graded":
      return Critic.foldGraded(round, event)
    case "round-revised":
      return Revision.fold(round, event)
    case "round-finished":
      return Round.foldFinished(round, event)
    default: {
      // Nested items are counted at the level of the step.
      const item = event.type === "step-unfolded" || event.type === "step-joined" ? undefined : event.item
      const step = recordAt(round, event.step, item)
      if (step !== undefined) foldInStep(step, event)
    }
  }
}

const foldInRun = (run: OpenRun, event: Exclude<RunEvent, Of<"run-started">>) => {
  if (event.type === "run-finished") return Run.foldFinished(run, event)
  if (event.type === "round-started") {
    run.rounds.push(Round.begin(event))
    return
  }
  const round = run.rounds[event.round]
  if (round !== undefined) foldInRound(run, round, event)
}

// -------------------------------------------------------------------------------------------------------------------
// Copies
// -------------------------------------------------------------------------------------------------------------------

/** Compares items by their positions in their lists. */
const byPosition = ({ item: left = "" }: OpenStep, { item: right = "" }: OpenStep): number => {
  const [one, other] = [left.split("."), right.split(".")]
  const at = one.findIndex((index, at) => index !== other[at])
  return at < 0 ? 0 : Number(one[at]) - Number(other[at])
}

const copyOfStep = (step: OpenStep): StepRecord => {
  const { checkAnswers, checks, items, lost, nested, reassigned, turns, ...rest } = step
  const record: Mutable<StepRecord> = { ...rest, lost: [...lost], reassigned: [...reassigned] }
  if (turns !== undefined)
    record.turns = turns.map((turn) => ({ ...turn, tools: turn.tools.map((tool) => ({ ...tool })) }))
  if (checks !== undefined) record.checks = [...checks]
  if (checkAnswers !== undefined) record.checkAnswers = [...checkAnswers]
  if (nested !== undefined) record.nested = copyOf(nested)
  if (items !== undefined) record.items = [...items.values()].sort(byPosition).map(copyOfStep)
  return record
}

/** Returns a copy of the record that is not affected by later events. */
const copyOf = (run: OpenRun): Transcript => ({
  ...run,
  rounds: run.rounds.map((round) => ({
    ...round,
    completions: round.completions.map((completion) => ({ ...completion })),
    lost: [...round.lost],
    ...(round.revisions && { revisions: [...round.revisions] }),
    ...(round.criticAnswers && { criticAnswers: [...round.criticAnswers] }),
    steps: round.steps.map(copyOfStep)
  }))
})

// -------------------------------------------------------------------------------------------------------------------
// Constructor
// -------------------------------------------------------------------------------------------------------------------

/** Creates a recorder for a single run: the first run whose events it receives. */
export const recorder = (): Recorder => {
  const runs = new Map<string, OpenRun>()
  let first: OpenRun | undefined
  let taken: Transcript | undefined
  const start = (event: Of<"run-started">) => {
    const { parent } = event
    const round = parent && runs.get(parent.runId)?.rounds[parent.round]
    const step = round && recordAt(round, parent.step, parent.item)
    if (first !== undefined && step === undefined) return
    const run = Run.begin(event)
    if (step !== undefined) step.nested = run
    first ??= run
    runs.set(event.runId, run)
  }
  return {
    listener: (event) => {
      taken = undefined
      if (event.type === "run-started") return start(event)
      const run = runs.get(event.runId)
      if (run !== undefined) foldInRun(run, event)
    },
    transcript: () => {
      taken ??= first && copyOf(first)
      return taken
    }
  }
}
