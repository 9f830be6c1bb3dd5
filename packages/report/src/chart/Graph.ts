/** The positions of a workflow's steps in a picture, and the lines between them. */
import { Topology, type Workflow } from "@divisi/core"
import { curveBumpX, curveBumpY, line } from "d3-shape"

/** Measures in pixels: along the direction of time, and across it. */
export interface Measures {
  readonly along: (step: number) => number
  readonly across: number
  readonly gapAlong: number
  readonly gapAcross: number
  /** Whether time runs from left to right; downwards by default. */
  readonly isSideways?: boolean | undefined
  /** Room for the tip of an arrow before a box; 0 by default. */
  readonly tip?: number | undefined
}

/** A box. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A graph that can be drawn. */
export interface Placed {
  /** By step. */
  readonly boxes: ReadonlyArray<Box>
  /** Paths of the lines from boxes to those that build on them; no box is in their way. */
  readonly edges: ReadonlyArray<string>
  readonly width: number
  readonly height: number
}

/** Places the steps by layer and lane. */
export const place = (workflow: Workflow.Workflow, measures: Measures): Placed => {
  const { across, along, gapAcross, gapAlong, isSideways = false, tip = 0 } = measures
  const { edges, lanes, layers, steps } = Topology.layout(Topology.make(workflow))
  const sizes = Array.from({ length: layers }, (_, layer) =>
    Math.max(...steps.map((step, index) => (step.layer === layer ? along(index) : 0)))
  )
  const starts = sizes.map((_, layer) => sizes.slice(0, layer).reduce((sum, size) => sum + size + gapAlong, 0))
  const laneAt = (lane: number) => lane * (across + gapAcross)
  const turned = <A>(along: A, across: A): readonly [A, A] => (isSideways ? [along, across] : [across, along])

  const boxes = steps.map(({ lane, layer }, step) => {
    const [x, y] = turned(starts[layer]!, laneAt(lane))
    const [width, height] = turned(along(step), across)
    return { x, y, width, height }
  })
  const path = line<readonly [number, number]>()
    .x(([x]) => x)
    .y(([, y]) => y)
    .curve(isSideways ? curveBumpX : curveBumpY)
    .digits(1)
  const paths = edges.map(({ from, points, to }) => {
    const middle = (lane: number) => laneAt(lane) + across / 2
    const between = points.slice(1, -1).flatMap(({ lane, layer }) => {
      const start = starts[layer]!
      return [turned(start, middle(lane)), turned(start + sizes[layer]!, middle(lane))]
    })
    const first = turned(starts[steps[from]!.layer]! + along(from), middle(steps[from]!.lane))
    const last = turned(starts[steps[to]!.layer]! - tip, middle(steps[to]!.lane))
    return path([first, ...between, last]) ?? ""
  })
  const [width, height] = turned((starts.at(-1) ?? 0) + (sizes.at(-1) ?? 0), Math.max(0, laneAt(lanes) - gapAcross))
  return { boxes, edges: paths, width, height }
}
