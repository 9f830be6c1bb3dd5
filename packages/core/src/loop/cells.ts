/**
 * The cells of a workflow: one for each step, or one for each item of a step that runs for items.
 *
 * A cell's path contains the index of its item for each axis of its step (see `program.ts`). For each step in its
 * access list, a cell sees the cells whose paths match its own on the axes that both steps share. As a result, an item
 * sees its own results from earlier steps, a step without items sees all items, and no cell waits for unrelated items.
 */

import { axesOf, listOf, waitsFor } from "../workflow/program.ts"
import type { StepAnswer, Verdict } from "../workflow/StepMessages.ts"
import type { Workflow } from "../workflow/Workflow.ts"

/** A step, an item of a step, or a group, which represents all items of a step under a common path. */
export interface Cell {
  readonly step: number
  readonly path: ReadonlyArray<number>
  readonly parent: Cell | undefined
  /** The cells of a group. Undefined until the list is known. */
  items: ReadonlyArray<Cell> | undefined
  /**
   * Number of steps or groups that the cell is waiting for. For a group, the number of its cells that have not ended.
   */
  pending: number
  /** Number of answered cells among those that it sees, if it waits for a quorum. */
  answered: number
  isStarted: boolean
  isDone: boolean
  /** Whether the quorum has been reached and the cell starts after its grace period. */
  isDue: boolean
  /** Whether no other cell needs it anymore, so that it is stopped or not started. */
  isLate: boolean
  answer: StepAnswer | undefined
  verdict: Verdict | undefined
  /** The step whose answer it adopts because its condition was not met. */
  standsFor: number | undefined
  /** The items in its answer. Undefined if it is not supposed to return a list, or did not return one. */
  list: ReadonlyArray<string> | undefined
  /** Names of the cells that it sees but does not wait for. */
  without: ReadonlySet<string> | undefined
  /** Stops the cell. Defined while the cell is running and can be stopped. */
  stop: (() => void) | undefined
  /** Ends the grace period early, because all inputs of the cell have finished. */
  begin: (() => void) | undefined
}

/** Returns a cell's item in the format used by events. */
export const itemOf = ({ path }: Pick<Cell, "path">): string | undefined =>
  path.length === 0 ? undefined : path.join(".")

/** Sets every field, so that all cells have one shape: compiled code for the first cells then holds for the others. */
const cell = (step: number, path: ReadonlyArray<number>, parent: Cell | undefined): Cell => ({
  step,
  path,
  parent,
  items: undefined,
  pending: 0,
  answered: 0,
  isStarted: false,
  isDone: false,
  isDue: false,
  isLate: false,
  answer: undefined,
  verdict: undefined,
  standsFor: undefined,
  list: undefined,
  without: undefined,
  stop: undefined,
  begin: undefined
})

/** Returns the number of leading axes that two steps have in common. */
const sharedAxes = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  const most = Math.min(one.length, other.length)
  let at = 0
  while (at < most && one[at] === other[at]) at++
  return at
}

/** The cells of a workflow. Their state changes while the workflow runs. */
export interface Cells {
  readonly roots: ReadonlyArray<Cell>
  readonly axes: ReadonlyArray<ReadonlyArray<number>>
  /** Returns the cell or group of a step that a cell sees, or `undefined` if the group is not known yet. */
  readonly seen: (of: Cell, step: number) => Cell | undefined
  /** Returns the known cells of a group, or the cell itself. */
  readonly leaves: (under: Cell) => ReadonlyArray<Cell>
  /** Returns the cells of a group, including nested groups whose items are not known yet, or the cell itself. */
  readonly parts: (under: Cell) => ReadonlyArray<Cell>
  /** Whether a cell represents several items, whether or not they are known. */
  readonly isGroup: (cell: Cell) => boolean
  /** Returns a cell's name as used in `without`. */
  readonly nameOf: (cell: Cell) => string
  /** Returns the text of a cell's item. */
  readonly textOf: (cell: Cell) => string
  /** Marks a cell as ended, expands its list into items, and returns the cells that can run now. */
  readonly end: (ended: Cell) => Array<Cell>
}

/** Creates the cells for the steps of a workflow that `isWanted` selects. */
export const make = (
  workflow: Workflow,
  isWanted: (step: number) => boolean,
  report: {
    readonly unfolded: (group: Cell, items: number) => void
    readonly joined: (root: Cell) => void
  }
): Cells => {
  const { steps } = workflow
  const axes = axesOf(workflow)
  const roots = steps.map((_, step) => cell(step, [], undefined))
  const depthBelow = ({ path, step }: Cell) => axes[step]!.length - path.length
  const isGroup = (one: Cell) => depthBelow(one) > 0
  const leaves = (under: Cell): ReadonlyArray<Cell> => {
    const depth = depthBelow(under)
    if (depth === 0) return [under]
    const { items = [] } = under
    return depth === 1 ? items : items.flatMap(leaves)
  }

  const parts = (under: Cell): ReadonlyArray<Cell> =>
    !isGroup(under) || under.items === undefined ? [under] : under.items.flatMap(parts)

  /** For each step, the selected steps that wait for it and the selected steps that it waits for. */
  const waiters = steps.map((_, step) =>
    steps.flatMap((one, later) => (later > step && isWanted(later) && waitsFor(one, step) ? [later] : []))
  )
  const inputs = steps.map((one, step) =>
    isWanted(step) ? steps.flatMap((_, earlier) => (earlier < step && waitsFor(one, earlier) ? [earlier] : [])) : []
  )

  const groupAt = (step: number, path: ReadonlyArray<number>, length: number): Cell | undefined => {
    let group: Cell | undefined = roots[step]
    for (let at = 0; at < length && group !== undefined; at++) group = group.items?.[path[at]!]
    return group
  }
  const seen = (of: Cell, step: number) => groupAt(step, of.path, sharedAxes(axes[of.step]!, axes[step]!))

  for (const root of roots) if (!isGroup(root)) root.pending = inputs[root.step]!.length

  /** Decrements the counters of all cells that depend on the ended cell or group. */
  const complete = (done: Cell, ready: Array<Cell>): void => {
    done.isDone = true
    const { parent, path, step } = done
    for (const later of waiters[step]!) {
      if (sharedAxes(axes[step]!, axes[later]!) !== path.length) continue
      const under = groupAt(later, path, path.length)
      if (under === undefined) continue
      for (const leaf of leaves(under)) {
        leaf.pending -= 1
        if (leaf.pending === 0) {
          leaf.begin?.()
          if (!leaf.isStarted && !leaf.isDue) ready.push(leaf)
        }
      }
    }
    if (path.length === 0 && isGroup(done)) report.joined(done)
    if (parent === undefined) return
    parent.pending -= 1
    if (parent.pending === 0) complete(parent, ready)
  }

  const unfold = (group: Cell, count: number, ready: Array<Cell>): void => {
    const { path, step } = group
    const items = Array.from({ length: count }, (_, index) => cell(step, [...path, index], group))
    group.items = items
    group.pending = count
    report.unfolded(group, count)
    if (depthBelow(group) === 1) {
      for (const leaf of items) {
        for (const earlier of inputs[step]!) if (seen(leaf, earlier)?.isDone !== true) leaf.pending += 1
        if (leaf.pending === 0) ready.push(leaf)
      }
    }
    if (count === 0) complete(group, ready)
  }

  const end = (ended: Cell): Array<Cell> => {
    const ready: Array<Cell> = []
    const { list, path, step } = ended
    if (listOf(steps[step]!.gives) !== undefined) {
      for (let later = step + 1; later < steps.length; later++) {
        if (!isWanted(later) || axes[later]![path.length] !== step) continue
        const group = groupAt(later, path, path.length)
        if (group !== undefined && group.items === undefined) unfold(group, list?.length ?? 0, ready)
      }
    }
    complete(ended, ready)
    return ready
  }

  const textOf = ({ path, step }: Cell): string => {
    const axis = axes[step]!.at(-1)
    const from = axis === undefined ? undefined : groupAt(axis, path, path.length - 1)
    return from?.list?.[path.at(-1)!] ?? ""
  }

  const nameOf = (one: Cell): string => {
    const whole = [...one.path, ...Array.from({ length: depthBelow(one) }, () => "*")]
    return whole.length === 0 ? `${one.step}` : `${one.step}[${whole.join(".")}]`
  }

  return { roots, axes, seen, leaves, parts, isGroup, nameOf, textOf, end }
}
