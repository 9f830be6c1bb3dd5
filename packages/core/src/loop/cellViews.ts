/** Computes the answers and subtasks that each cell of a workflow sees. */

import { itemSubtask, joined } from "../workflow/ItemMessages.ts"
import { isSeen } from "../workflow/program.ts"
import type { StepAnswer, StepView } from "../workflow/StepMessages.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import type { Cell, Cells } from "./cells.ts"

/** Views of a workflow's cells in their current state. */
export interface CellViews {
  /** Returns a cell's answer, or the combined answers of a group. */
  readonly answerOf: (of: Cell | undefined, without?: ReadonlySet<string>) => StepAnswer | undefined
  readonly viewOf: (cell: Cell) => StepView
}

/** Whether a step did not wait for a cell, or for a group that contains the cell. */
export const isLeftOut = (
  cell: Cell | undefined,
  without: ReadonlySet<string>,
  nameOf: (cell: Cell) => string
): boolean => cell !== undefined && (without.has(nameOf(cell)) || isLeftOut(cell.parent, without, nameOf))

/** Creates the views of a workflow's cells. */
export const make = (
  { steps }: Workflow,
  {
    axes,
    isGroup,
    leaves,
    nameOf,
    seen,
    textOf
  }: Pick<Cells, "axes" | "isGroup" | "leaves" | "nameOf" | "seen" | "textOf">
): CellViews => {
  /** Returns why a group has no items if its list is missing, or `undefined` if the list is known or empty. */
  const missingList = (group: Cell): string | undefined => {
    const source = axes[group.step]![group.path.length]!
    return seen(group, source)?.list === undefined ? `step ${source} returned no list` : undefined
  }

  const answerOf = (of: Cell | undefined, without?: ReadonlySet<string>): StepAnswer | undefined => {
    if (of === undefined || (without !== undefined && isLeftOut(of, without, nameOf))) return undefined
    if (!isGroup(of) || (of.answer !== undefined && without === undefined)) return of.answer
    if (of.items === undefined) return undefined
    const message = of.items.length === 0 ? missingList(of) : undefined
    if (message !== undefined) return { type: "failed", message }
    // Items that were unknown when the step started are not shown, even if they are known now.
    const shown = leaves(of).filter((leaf) => without === undefined || !isLeftOut(leaf.parent, without, nameOf))
    const results = shown.map((leaf) => ({
      item: textOf(leaf),
      answer: without?.has(nameOf(leaf)) === true ? undefined : leaf.answer
    }))
    const whole = joined(results)
    // Several steps may read the same finished group, so the joined answer is cached.
    if (of.isDone && without === undefined) of.answer = whole
    return whole
  }

  const viewOf = (cell: Cell): StepView => {
    const one = steps[cell.step]!
    const answers: Array<StepAnswer | undefined> = []
    for (let step = 0; step < cell.step; step++) {
      if (isSeen(one, step)) answers[step] = answerOf(seen(cell, step), cell.without)
    }
    const subtaskOf = (step: number) => {
      const { subtask } = steps[step]!
      if (axes[step]!.length === 0) return subtask
      const shown = step === cell.step ? cell : seen(cell, step)
      return shown === undefined || isGroup(shown)
        ? subtask.replaceAll("{item}", "each item")
        : itemSubtask(subtask, textOf(shown))
    }
    const isHidden = (step: number) => {
      const standsFor = seen(cell, step)?.standsFor
      return standsFor !== undefined && isSeen(one, standsFor)
    }
    return { answers, subtaskOf, isHidden }
  }

  return { answerOf, viewOf }
}
