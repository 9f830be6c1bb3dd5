/**
 * Draws the topology of a workflow in text, one row per step, like the history of a version control system: a step is a
 * dot, and answers that later steps still need are lines next to it.
 *
 * ```
 * ●      0
 * │ ●    1
 * │ │ ●  2
 * ●─┴─┘  3
 * ```
 */
import { Topology, type Workflow } from "@divisi/core"

/** The drawing next to one step. In a drawing, all text has the same width. */
export interface Row {
  /** Text to the left of the step's line. `●` represents the step. */
  readonly node: string
  /** Text to the left of the following lines, up to the next step. */
  readonly below: string
}

/** A drawing. `vote` is the last row of a workflow with a majority vote. */
export interface StepGraph {
  readonly rows: ReadonlyArray<Row>
  readonly vote?: Row | undefined
}

/**
 * Symbol for a step in a row.
 *
 * @internal
 */
export const dot = "●"

/** Returns the inputs of each node. A vote is an additional node with all steps as inputs. */
const parentsOf = (workflow: Workflow.Workflow): ReadonlyArray<ReadonlyArray<number>> => {
  const parents: Array<Array<number>> = workflow.steps.map(() => [])
  for (const { from, to } of Topology.layout(Topology.make(workflow)).edges) parents[to]!.push(from)
  if (workflow.answer === "majority") parents.push(workflow.steps.map((_, step) => step))
  return parents
}

/**
 * Returns a rail for a new step: the leftmost free one, except the one directly below the previous dot, which would
 * look connected to it.
 */
const freeRail = (rails: ReadonlyArray<number | undefined>, before: number | undefined): number => {
  const free = rails.findIndex((node, rail) => node === undefined && rail !== before)
  return free !== -1 ? free : rails.length === before ? rails.length + 1 : rails.length
}

/** Returns the symbol for a rail that provides an input to the node at `rail`. */
const joint = (isFirst: boolean, isLast: boolean, goesOn: boolean): string => {
  if (isFirst) return goesOn ? "├" : "└"
  if (isLast) return goesOn ? "┤" : "┘"
  return goesOn ? "┼" : "┴"
}

const draw = (parents: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<Row> => {
  const rails: Array<number | undefined> = []
  const drawn: Array<Row> = []
  let before: number | undefined
  const isSeenAfter = (node: number, after: number) =>
    parents.some((list, later) => later > after && list.includes(node))
  const below = () => rails.map((node) => (node === undefined ? " " : "│")).join(" ")

  parents.forEach((seen, node) => {
    const joined = rails.flatMap((at, rail) => (at !== undefined && seen.includes(at) ? [rail] : []))
    const ending = joined.find((rail) => !isSeenAfter(rails[rail]!, node))
    const own = ending ?? freeRail(rails, before)
    const first = Math.min(own, ...joined)
    const last = Math.max(own, ...joined)
    let text = ""
    for (let rail = 0; rail < Math.max(rails.length, own + 1); rail++) {
      const at = rails[rail]
      const isInside = rail > first && rail < last
      if (rail === own) text += dot
      else if (joined.includes(rail)) text += joint(rail === first, rail === last, isSeenAfter(at!, node))
      else text += at !== undefined ? "│" : isInside ? "─" : " "
      text += rail >= first && rail < last ? "─" : " "
    }
    for (const rail of joined) if (!isSeenAfter(rails[rail]!, node)) rails[rail] = undefined
    while (rails.length <= own) rails.push(undefined)
    const isSeen = isSeenAfter(node, node)
    rails[own] = isSeen ? node : undefined
    before = isSeen ? undefined : own
    drawn.push({ node: text.trimEnd(), below: below().trimEnd() })
  })
  const width = Math.max(0, ...drawn.map((row) => row.node.length))
  return drawn.map((row) => ({ node: row.node.padEnd(width), below: row.below.padEnd(width) }))
}

/** Draws a valid workflow. */
export const make = (workflow: Workflow.Workflow): StepGraph => {
  const rows = draw(parentsOf(workflow))
  return workflow.answer === "majority" && workflow.steps.length > 0
    ? { rows: rows.slice(0, -1), vote: rows.at(-1)! }
    : { rows }
}
