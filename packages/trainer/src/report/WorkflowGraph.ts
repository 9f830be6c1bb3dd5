/** A workflow as a small graph: a box for each step, an arrow to each step that builds on it. */
import * as Topology from "@divisi/core/Topology"
import type { Workflow } from "@divisi/core/Workflow"
import { type Html, html } from "./Html.ts"
import { place } from "./Numbers.ts"

const boxWidth = 104
const boxHeight = 24
const gapAcross = 26
const gapDown = 8
const mostLetters = 13

const shortened = (name: string): string => {
  const letters = [...name]
  return letters.length <= mostLetters ? name : `${letters.slice(0, mostLetters - 1).join("")}…`
}

/** Layers run from left to right, so that even five steps are but one line high. */
const placeOf = ({ lane, layer }: Topology.Position) => ({
  x: 1 + layer * (boxWidth + gapAcross),
  y: 1 + lane * (boxHeight + gapDown)
})

const arrow = (points: ReadonlyArray<Topology.Position>): Html => {
  const middle = boxHeight / 2
  const places = points.map(placeOf)
  const [first] = places
  const start = `M ${place(first!.x + boxWidth)} ${place(first!.y + middle)}`
  const rest = places.slice(1).map(({ x, y }, index) => {
    const from = places[index]!
    const half = place(from.x + boxWidth + gapAcross / 2)
    const isLast = index === places.length - 2
    const curve = `C ${half} ${place(from.y + middle)} ${half} ${place(y + middle)} ${place(x)} ${place(y + middle)}`
    return isLast ? curve : `${curve} L ${place(x + boxWidth)} ${place(y + middle)}`
  })
  return html`<path d="${[start, ...rest].join(" ")}"/>`
}

/** The graph; the step that answers has a frame of its own. */
export const workflowGraph = (workflow: Workflow, workers: ReadonlyArray<string>): Html | undefined => {
  if (workflow.steps.length === 0) return undefined
  const topology = Topology.make(workflow)
  const layout = Topology.layout(topology)
  const width = layout.layers * (boxWidth + gapAcross) - gapAcross + 2
  const height = layout.lanes * (boxHeight + gapDown) - gapDown + 2
  const nameOf = (step: number) => workers[step] ?? `worker ${workflow.steps[step]!.worker}`
  const box = (position: Topology.Position, step: number): Html => {
    const { x, y } = placeOf(position)
    const kind = step === workflow.steps.length - 1 ? "last" : ""
    return html`<rect class="${kind}" x="${place(x)}" y="${place(y)}" width="${boxWidth}" height="${boxHeight}" rx="5"/>
<text text-anchor="middle" x="${place(x + boxWidth / 2)}" y="${place(y + boxHeight / 2 + 4)}">${shortened(nameOf(step))}</text>`
  }
  return html`<svg class="graph" width="${width}" height="${place(height)}" viewBox="0 0 ${width} ${place(height)}" role="img" aria-label="${Topology.shape(topology)} of ${workflow.steps.length}">
${layout.edges.map(({ points }) => arrow(points))}${layout.steps.map(box)}</svg>`
}
