/**
 * Topologies: the graph of a workflow's access lists, built on Effect's `Graph`.
 *
 * Each step is a node, with an edge to every later step that sees it. Because `"all"` refers to every earlier step,
 * even a simple chain has an edge from each step to all later ones. The transitive reduction, which has the fewest
 * edges with the same reachability, is closer to the intuitive shape. It is therefore used for shapes, diagrams and
 * layouts.
 */
import * as Graph from "effect/Graph"
import * as Options from "../Options.ts"
import { plain } from "../Thrown.ts"
import { axesOf, sharedItem, waitsFor } from "./program.ts"
import * as Workflow from "./Workflow.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The graph of a workflow. Node indices equal step indices. */
export interface Topology {
  readonly workflow: Workflow.Workflow
  /**
   * The dependency graph: one edge for each access list entry, and for each dependency on another step's items or
   * check.
   */
  readonly graph: Graph.DirectedGraph<Workflow.Step, void>
  /** The transitive reduction of `graph`. */
  readonly reduction: Graph.DirectedGraph<Workflow.Step, void>
}

/**
 * Classification of a topology, based on its transitive reduction. The first matching shape applies.
 *
 * - `empty`: no steps; confirms the previous answer.
 * - `single`: one step.
 * - `map`: at least one step runs for each item of a list.
 * - `chain`: each step depends on exactly the previous one.
 * - `best-of-n`: at least two independent steps with the same subtask, followed by a step that sees all of them or by a
 *   majority vote. If their subtasks differ, the shape is `tree`.
 * - `tree`: exactly one later step depends on each step except the last, so that partial results are merged, possibly
 *   in several stages.
 * - `dag`: any other graph, such as a plan shared by two attempts and a judge, or a step whose answer is not used.
 */
export type Shape = "empty" | "single" | "map" | "chain" | "best-of-n" | "tree" | "dag"

/** The chain of steps that determines how long a workflow takes, with its total duration. */
export interface CriticalPath {
  readonly steps: ReadonlyArray<number>
  readonly length: number
}

/**
 * A position in a diagram. `layer` corresponds to time and `lane` is perpendicular to it. Both start at 0; lanes may be
 * multiples of one half.
 */
export interface Position {
  readonly layer: number
  readonly lane: number
}

/** Positions of steps and edges for rendering a topology. */
export interface Layout {
  readonly layers: number
  /** Number of lanes. Layers with fewer steps are centered. */
  readonly lanes: number
  /** Position of each step, by index. */
  readonly steps: ReadonlyArray<Position>
  /**
   * Edges of the transitive reduction. `points` contains one position for each layer from `from` to `to`; intermediate
   * positions never coincide with a step.
   */
  readonly edges: ReadonlyArray<{
    readonly from: number
    readonly to: number
    readonly points: ReadonlyArray<Position>
  }>
}

/** Options for rendering diagrams. */
export interface DiagramOptions {
  /** Returns the label for a step. Defaults to its index, its worker's index and the beginning of its subtask. */
  readonly label?: ((step: Workflow.Step, index: number) => string) | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const diagramTable = { label: Options.aFunction } satisfies Options.ShapeOf<DiagramOptions>

/** Returns the steps that a step waits for. */
const inputs = (workflow: Workflow.Workflow, step: number): ReadonlyArray<number> => {
  const one = workflow.steps[step]!
  if (one.each === undefined && one.when === undefined) return Workflow.visible(workflow, step)
  return Array.from({ length: step }, (_, earlier) => earlier).filter((earlier) => waitsFor(one, earlier))
}

/**
 * Creates the topology of a workflow. The workflow must be valid according to `Workflow.check`.
 *
 * **Example**
 *
 * ```ts
 * import { Topology } from "@divisi/core"
 *
 * const topology = Topology.make({
 *   steps: [
 *     { worker: 0, subtask: "Try it.", access: [] },
 *     { worker: 1, subtask: "Try it.", access: [] },
 *     { worker: 2, subtask: "Judge.", access: "all" }
 *   ]
 * })
 * Topology.shape(topology) // => "best-of-n"
 * Topology.layers(topology) // => [[0, 1], [2]]
 * ```
 */
export const make = (workflow: Workflow.Workflow): Topology => {
  const graph = Graph.directed<Workflow.Step, void>((mutable) => {
    for (const step of workflow.steps) Graph.addNode(mutable, step)
    workflow.steps.forEach((_, step) => {
      for (const earlier of inputs(workflow, step)) Graph.addEdge(mutable, earlier, step, undefined)
    })
    return undefined
  })
  return { workflow, graph, reduction: Graph.transitiveReduction(graph) }
}

// -------------------------------------------------------------------------------------------------------------------
// Measures
// -------------------------------------------------------------------------------------------------------------------

/** Returns the layer of each step: 0 if it sees no other step, or else one more than the highest layer that it sees. */
const layerOf = ({ workflow }: Topology): ReadonlyArray<number> => {
  const found: Array<number> = []
  workflow.steps.forEach((_, step) => {
    found.push(inputs(workflow, step).reduce((layer, earlier) => Math.max(layer, found[earlier]! + 1), 0))
  })
  return found
}

/**
 * Groups the steps by layer, in step order. Steps in the same layer do not depend on each other and may run
 * concurrently.
 */
export const layers = (topology: Topology): ReadonlyArray<ReadonlyArray<number>> => {
  const found: Array<Array<number>> = []
  layerOf(topology).forEach((layer, step) => {
    found[layer] ??= []
    found[layer].push(step)
  })
  return found
}

/** Returns the number of steps in the largest layer, or 0 if there are no steps. */
export const width = (topology: Topology): number => Math.max(0, ...layers(topology).map((layer) => layer.length))

/** Returns the number of layers, which equals the number of sequential calls. */
export const depth = (topology: Topology): number => layers(topology).length

/**
 * Returns the critical path: the chain of steps that determines the total duration if each step starts as soon as all
 * steps that it sees have finished.
 *
 * **Details**
 *
 * `durations` contains the duration of each step, in any unit; `undefined` counts as 0, for a skipped step. If omitted,
 * each step counts as 1, and the path length equals the depth. Of several paths of equal length, the one through the
 * earliest steps is returned.
 */
export const criticalPath = (topology: Topology, durations?: ReadonlyArray<number | undefined>): CriticalPath => {
  const { workflow } = topology
  const ends: Array<CriticalPath> = []
  const longest = (paths: Iterable<CriticalPath>) => {
    let best: CriticalPath = { steps: [], length: 0 }
    for (const path of paths) if (path.length > best.length || best.steps.length === 0) best = path
    return best
  }
  workflow.steps.forEach((_, step) => {
    const before = longest(inputs(workflow, step).map((earlier) => ends[earlier]!))
    const duration = durations === undefined ? 1 : (durations[step] ?? 0)
    ends.push({ steps: [...before.steps, step], length: before.length + duration })
  })
  return longest(ends)
}

/** The fields of a step record that are needed to calculate its duration. */
export interface Ran {
  readonly durationMillis?: number | undefined
  readonly item?: string | undefined
  readonly items?: ReadonlyArray<Ran> | undefined
  readonly without?: ReadonlyArray<string> | undefined
}

/**
 * Expands a workflow so that each item becomes a separate step, with the dependencies that it had in the run.
 *
 * **Details**
 *
 * Returns the expanded workflow, the durations of its steps for {@link criticalPath} (`undefined` for steps that did
 * not run or were stopped), and their positions (`1`, `1[3]`). A workflow without items is returned unchanged.
 */
export const unfold = (
  workflow: Workflow.Workflow,
  records: ReadonlyArray<Ran>
): {
  readonly workflow: Workflow.Workflow
  readonly durations: ReadonlyArray<number | undefined>
  readonly places: ReadonlyArray<string>
} => {
  const axes = axesOf(workflow)
  const cells = workflow.steps.flatMap((one, step) => {
    const record = records[step]
    const ran = axes[step]!.length === 0 ? (record === undefined ? [{}] : [record]) : (record?.items ?? [])
    return ran.map((cell: Ran) => ({
      one,
      step,
      cell,
      place: cell.item === undefined ? `${step}` : `${step}[${cell.item}]`
    }))
  })
  const isShared = (step: number, item: string | undefined, later: number, of: string | undefined): boolean => {
    const shared = item === undefined ? "" : sharedItem(axes, step, later, item)
    return shared === "" || `${of}.`.startsWith(`${shared}.`)
  }
  const steps = cells.map(({ cell, one, step }, at): Workflow.Step => {
    const without = new Set(cell.without)
    const access = cells.slice(0, at).flatMap((earlier, index) => {
      const isInput = earlier.step < step && waitsFor(one, earlier.step) && !without.has(earlier.place)
      return isInput && isShared(earlier.step, earlier.cell.item, step, cell.item) ? [index] : []
    })
    return { worker: one.worker, subtask: one.subtask, access }
  })
  const durations = cells.map(({ cell }) => cell.durationMillis)
  return { workflow: { ...workflow, steps }, durations, places: cells.map(({ place }) => place) }
}

const out = ({ reduction }: Topology, step: number) => Graph.outDegree(reduction, step)
const into = ({ reduction }: Topology, step: number) => Graph.inDegree(reduction, step)

/** Whether all steps have the same subtask, ignoring case and whitespace. */
const areAttempts = (steps: ReadonlyArray<Workflow.Step>): boolean =>
  new Set(steps.map(({ subtask }) => subtask.replace(/\s+/g, " ").trim().toLowerCase())).size === 1

/** Returns the {@link Shape} of a topology. */
export const shape = (topology: Topology): Shape => {
  const { answer, steps } = topology.workflow
  const last = steps.length - 1
  if (last < 0) return "empty"
  if (last === 0) return "single"
  if (steps.some(({ each }) => each !== undefined)) return "map"
  if (depth(topology) === steps.length) return "chain"
  const before = steps.slice(0, -1).map((_, step) => step)
  if (answer === "majority") return Graph.edgeCount(topology.graph) === 0 ? "best-of-n" : "dag"
  if (into(topology, last) === last && areAttempts(steps.slice(0, -1))) return "best-of-n"
  return before.every((step) => out(topology, step) === 1) ? "tree" : "dag"
}

// -------------------------------------------------------------------------------------------------------------------
// Diagrams
// -------------------------------------------------------------------------------------------------------------------

const labelLength = 60

const defaultLabel = ({ each, subtask, worker }: Workflow.Step, index: number): string => {
  const characters = [...subtask.replace(/\s+/g, " ").trim()]
  const text =
    characters.length > labelLength ? `${characters.slice(0, labelLength - 1).join("")}…` : characters.join("")
  return `Step ${index}${each === undefined ? "" : " ×n"}: Model ${worker}${text === "" ? "" : `\n${text}`}`
}

/** Returns the transitive reduction with step labels as nodes, for rendering. */
const labelled = (what: string, topology: Topology, options: DiagramOptions): Graph.DirectedGraph<string, void> => {
  Options.check(what, options, diagramTable)
  const { label = defaultLabel } = options
  return Graph.directed<string, void>((mutable) => {
    topology.workflow.steps.forEach((step, index) => {
      Graph.addNode(mutable, plain(label(step, index)))
    })
    for (const { source, target } of reducedEdges(topology)) Graph.addEdge(mutable, source, target, undefined)
    return undefined
  })
}

/** Returns the edges of the transitive reduction, sorted by target and then by source. */
const reducedEdges = ({ reduction }: Topology): ReadonlyArray<{ readonly source: number; readonly target: number }> =>
  Array.from(Graph.values(Graph.edges(reduction))).sort(
    (left, right) => left.target - right.target || left.source - right.source
  )

/** Renders the topology as a Mermaid flowchart. Labels are escaped, and control characters are removed. */
export const toMermaid = (topology: Topology, options: DiagramOptions = {}): string =>
  Graph.toMermaid(labelled("Topology.toMermaid", topology, options), { edgeLabel: () => "" })

/** Renders the topology in the Graphviz DOT language. Labels are escaped, and control characters are removed. */
export const toDot = (topology: Topology, options: DiagramOptions = {}): string =>
  Graph.toGraphViz(labelled("Topology.toDot", topology, options), { graphName: "workflow", edgeLabel: () => "" })

// -------------------------------------------------------------------------------------------------------------------
// Layout
// -------------------------------------------------------------------------------------------------------------------

/** A step, or the point at which an edge crosses a layer, linked to the adjacent slots. */
interface Slot {
  readonly layer: number
  readonly before: Array<Slot>
  readonly after: Array<Slot>
  lane: number
}

const slot = (layer: number): Slot => ({ layer, before: [], after: [], lane: 0 })

const link = (from: Slot, to: Slot) => {
  from.after.push(to)
  to.before.push(from)
}

/** Creates a path of slots between two steps, with one slot for each layer in between. */
const thread = (from: Slot, to: Slot): ReadonlyArray<Slot> => {
  const between = Array.from({ length: to.layer - from.layer - 1 }, (_, index) => slot(from.layer + index + 1))
  const path = [from, ...between, to]
  for (let index = 1; index < path.length; index++) link(path[index - 1]!, path[index]!)
  return path
}

const mean = (slots: ReadonlyArray<Slot>, otherwise: number) =>
  slots.length === 0 ? otherwise : slots.reduce((sum, { lane }) => sum + lane, 0) / slots.length

/** Sorts a layer's slots by the mean lane of their neighbors (stable) and centers them within `lanes`. */
const arrange = (slots: Array<Slot>, lanes: number, neighbours?: "before" | "after") => {
  if (neighbours !== undefined) {
    const wanted = new Map(slots.map((one) => [one, mean(one[neighbours], one.lane)]))
    slots.sort((left, right) => wanted.get(left)! - wanted.get(right)!)
  }
  slots.forEach((one, index) => {
    one.lane = (lanes - slots.length) / 2 + index
  })
}

/**
 * Calculates positions for rendering: steps arranged by layer, and edges routed around steps. To reduce crossings, each
 * layer is sorted by the mean position of its neighbors, in a downward pass followed by an upward pass.
 *
 * **Example**
 *
 * ```ts
 * import { Topology } from "@divisi/core"
 *
 * const step = (access: "all" | ReadonlyArray<number>) => ({ worker: 0, subtask: "", access })
 * const layout = Topology.layout(Topology.make({ steps: [step([]), step([]), step("all")] }))
 * layout.steps // => [{ layer: 0, lane: 0 }, { layer: 0, lane: 1 }, { layer: 1, lane: 0.5 }]
 * ```
 */
export const layout = (topology: Topology): Layout => {
  const steps = layerOf(topology).map(slot)
  const edges = reducedEdges(topology).map(({ source, target }) => ({
    from: source,
    to: target,
    slots: thread(steps[source]!, steps[target]!)
  }))
  const all = new Set([...steps, ...edges.flatMap((edge) => edge.slots)])
  const rows = Array.from({ length: depth(topology) }, (_, layer) => [...all].filter((one) => one.layer === layer))
  const lanes = Math.max(0, ...rows.map((row) => row.length))
  for (const row of rows) arrange(row, lanes)
  for (const row of rows.slice(1)) arrange(row, lanes, "before")
  for (const row of rows.slice(0, -1).reverse()) arrange(row, lanes, "after")
  const position = ({ lane, layer }: Slot): Position => ({ layer, lane })
  return {
    layers: rows.length,
    lanes,
    steps: steps.map(position),
    edges: edges.map(({ from, slots, to }) => ({ from, to, points: slots.map(position) }))
  }
}
