/** Computes the layout of a workflow: the positions of steps, and the edges between them. */
import { Topology, type Workflow } from "@divisi/core"
import { curveBumpY, line } from "d3-shape"

/** Measures in pixels: down, which is the direction of time, and across. */
export interface Measures {
  readonly along: (step: number) => number
  readonly across: number
  readonly gapAlong: number
  readonly gapAcross: number
  /** Space for the tip of an arrow before a box. */
  readonly tip: number
}

/** The position and size of a step, in pixels. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The layout of a workflow. */
export interface Placed {
  /** Boxes by step. */
  readonly boxes: ReadonlyArray<Box>
  /** SVG paths from each step to the steps that depend on it. They do not cross any box. */
  readonly edges: ReadonlyArray<string>
  readonly width: number
  readonly height: number
}

/** Computes the layout of a workflow from the layers and lanes of its steps. */
export const place = (workflow: Workflow.Workflow, measures: Measures): Placed => {
  const { across, along, gapAcross, gapAlong, tip } = measures
  const { edges, lanes, layers, steps } = Topology.layout(Topology.make(workflow))
  const sizes = Array.from({ length: layers }, (_, layer) =>
    Math.max(...steps.map((step, index) => (step.layer === layer ? along(index) : 0)))
  )
  const starts = sizes.map((_, layer) => sizes.slice(0, layer).reduce((sum, size) => sum + size + gapAlong, 0))
  const laneAt = (lane: number) => lane * (across + gapAcross)

  const boxes = steps.map(({ lane, layer }, step) => {
    return { x: laneAt(lane), y: starts[layer]!, width: across, height: along(step) }
  })
  const path = line<readonly [number, number]>()
    .x(([x]) => x)
    .y(([, y]) => y)
    .curve(curveBumpY)
    .digits(1)
  const paths = edges.map(({ from, points, to }) => {
    const middle = (lane: number) => laneAt(lane) + across / 2
    const between = points.slice(1, -1).flatMap(({ lane, layer }): ReadonlyArray<readonly [number, number]> => {
      const start = starts[layer]!
      return [
        [middle(lane), start],
        [middle(lane), start + sizes[layer]!]
      ]
    })
    const first = [middle(steps[from]!.lane), starts[steps[from]!.layer]! + along(from)] as const
    const last = [middle(steps[to]!.lane), starts[steps[to]!.layer]! - tip] as const
    return path([first, ...between, last]) ?? ""
  })
  const width = Math.max(0, laneAt(lanes) - gapAcross)
  return { boxes, edges: paths, width, height: (starts.at(-1) ?? 0) + (sizes.at(-1) ?? 0) }
}
