/**
 * Reconstructs the inputs of recorded steps: the answers and subtasks that a step or an item was shown. Uses the same
 * functions as the run itself.
 */

import { recordOf } from "../events/items.ts"
import type { Item } from "../events/RunEvent.ts"
import type { RoundRecord, StepRecord } from "../events/Transcript.ts"
import { type Cell, type Cells, itemOf, make as makeCells } from "../loop/cells.ts"
import { make as makeViews } from "../loop/cellViews.ts"
import { itemsOf } from "../loop/lists.ts"
import { WorkerError } from "../task/Worker.ts"
import { hasCells, listOf } from "../workflow/program.ts"
import type { StepAnswer, StepView } from "../workflow/StepMessages.ts"
import type { Workflow } from "../workflow/Workflow.ts"

/** The reconstructed inputs for the steps of a round. */
export interface StepViews {
  /** Answers by step. If a step ran for several items, their answers are combined. */
  readonly answers: ReadonlyArray<StepAnswer | undefined>
  /**
   * Returns the input of a step or item, or `undefined` if the item is unknown, or if the step has items and none was
   * specified.
   */
  readonly viewOf: (step: number, item?: Item) => StepView | undefined
}

/** Returns the error of a failed step, if its type affects how the failure is presented to later steps. */
const causeOf = ({ reason, worker }: StepRecord): unknown =>
  reason === "Authentication" || reason === "Quota"
    ? new WorkerError({ worker, reason: { _tag: reason } as WorkerError["reason"] })
    : undefined

const answerOf = (step: StepRecord | undefined): StepAnswer | undefined => {
  if (step === undefined) return undefined
  const { detail, finishReason, state, text, worker } = step
  if (state === "failed") return { type: "failed", message: detail ?? "", cause: causeOf(step) }
  if (state !== "answered") return undefined
  return finishReason === "refusal" ? { type: "refused", text, worker } : { type: "answered", text }
}

/** Restores a cell's state from its record. */
const restore = (cell: Cell, record: StepRecord | undefined, { steps }: Workflow, { seen }: Cells): void => {
  const { gives, when } = steps[cell.step]!
  cell.answer = answerOf(record)
  if (record?.without !== undefined) cell.without = new Set(record.without)
  if (when !== undefined && record?.state === "skipped" && record.detail === "condition") {
    cell.standsFor = when.failed
    cell.answer = seen(cell, when.failed)?.answer
  }
  if (listOf(gives) !== undefined && cell.answer?.type === "answered") cell.list = itemsOf(cell.answer.text)
}

const isUnseen = ({ detail, state }: StepRecord): boolean => state === "skipped" && detail === "unseen"

const ofCells = (round: RoundRecord, workflow: Workflow): StepViews => {
  const cells = makeCells(workflow, (step) => round.steps[step] !== undefined && !isUnseen(round.steps[step]), {
    unfolded: () => {},
    joined: () => {}
  })
  const { answerOf, viewOf } = makeViews(workflow, cells)
  const named = new Map<string, Cell>()
  const keyOf = (step: number, item: Item | undefined) => `${step} ${item ?? ""}`
  for (const root of cells.roots) {
    for (const leaf of cells.leaves(root)) {
      const record = recordOf(round, leaf.step, itemOf(leaf))
      named.set(keyOf(leaf.step, itemOf(leaf)), leaf)
      restore(leaf, record, workflow, cells)
      if (record?.endedAt !== undefined) cells.end(leaf)
    }
  }
  return {
    answers: cells.roots.map((root) => answerOf(root)),
    viewOf: (step, item) => {
      const cell = named.get(keyOf(step, item))
      return cell && viewOf(cell)
    }
  }
}

/** Reconstructs the inputs for the steps of a round. */
export const fromRecord = (round: RoundRecord): StepViews => {
  const { steps, workflow } = round
  if (workflow !== undefined && hasCells(workflow)) return ofCells(round, workflow)
  const answers = steps.map(answerOf)
  return {
    answers,
    viewOf: (step, item) => (item === undefined && steps[step] !== undefined ? { answers } : undefined)
  }
}
