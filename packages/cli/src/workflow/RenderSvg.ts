/**
 * A workflow drawn as a picture that follows the reader's light or dark theme. The text stays text: it can be selected,
 * and a screen reader reads the steps in their order.
 */
import * as Topology from "@divisi/core/Topology"
import type { Workflow } from "@divisi/core/Workflow"
import { cut, wrap } from "../view/Line.ts"
import { sees } from "../view/PlainView.ts"
import { summary } from "./RenderText.ts"

// -------------------------------------------------------------------------------------------------------------------
// Measures, in pixels. Text is set in a monospaced font, so that columns can be counted.
// -------------------------------------------------------------------------------------------------------------------

const columns = 34
const columnWidth = 7.3
const lineHeight = 18
const padding = 14
const boxWidth = columns * columnWidth + 2 * padding
const gapAcross = 28
const gapDown = 48
const margin = 20
/** Lines of a subtask; the rest is cut. */
const mostLines = 8

interface Box {
  readonly x: number
  readonly y: number
  readonly height: number
  readonly title: string
  readonly lines: ReadonlyArray<string>
}

const style = `
    .page { fill: #ffffff }
    .box { fill: #f6f8fa; stroke: #8c959f; stroke-width: 1 }
    .last { stroke: #1a7f37; stroke-width: 2 }
    .edge { fill: none; stroke: #8c959f; stroke-width: 1.5 }
    .tip { fill: #8c959f }
    text { font: 12px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328 }
    .title { font-weight: 600 }
    .note { fill: #59636e }
    @media (prefers-color-scheme: dark) {
      .page { fill: #0d1117 }
      .box { fill: #161b22; stroke: #6e7681 }
      .last { stroke: #3fb950 }
      .edge { stroke: #6e7681 }
      .tip { fill: #6e7681 }
      text { fill: #e6edf3 }
      .note { fill: #9198a1 }
    }`

/** Text for XML. Characters that XML 1.0 forbids are gone already, but for lone surrogates and non-characters. */
const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\ufffe\uffff]/g, "")
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const number = (value: number): string => String(Math.round(value * 10) / 10)

// -------------------------------------------------------------------------------------------------------------------
// Layout
// -------------------------------------------------------------------------------------------------------------------

const contentOf = (workflow: Workflow, step: number): Pick<Box, "title" | "lines" | "height"> => {
  const { access, subtask, worker } = workflow.steps[step]!
  const wrapped = wrap(subtask === "" ? "(the question itself)" : subtask, columns)
  const lines =
    wrapped.length > mostLines
      ? wrapped.slice(0, mostLines).with(-1, cut(`${wrapped[mostLines - 1]} …`, columns))
      : wrapped
  const title = `${step}  worker ${worker}, ${sees(access)}`
  return { title: cut(title, columns), lines, height: (lines.length + 1) * lineHeight + 2 * padding - 4 }
}

interface Placed {
  readonly layout: Topology.Layout
  readonly boxes: ReadonlyArray<Box>
  /** The top and the height of each layer. */
  readonly layers: ReadonlyArray<{ readonly y: number; readonly height: number }>
}

const laneX = (lane: number) => margin + lane * (boxWidth + gapAcross)

const place = (workflow: Workflow, top: number): Placed => {
  const layout = Topology.layout(Topology.make(workflow))
  const contents = workflow.steps.map((_, step) => contentOf(workflow, step))
  const layers: Array<{ y: number; height: number }> = []
  let y = top
  for (let layer = 0; layer < layout.layers; layer++) {
    const height = Math.max(
      ...contents.filter((_, step) => layout.steps[step]!.layer === layer).map((content) => content.height)
    )
    layers.push({ y, height })
    y += height + gapDown
  }
  const boxes = contents.map((content, step) => {
    const { lane, layer } = layout.steps[step]!
    return { ...content, x: laneX(lane), y: layers[layer]!.y }
  })
  return { layout, boxes, layers }
}

// -------------------------------------------------------------------------------------------------------------------
// Drawing
// -------------------------------------------------------------------------------------------------------------------

/** A line from the bottom of one box to the top of another, through the layers between them. */
const drawEdge = ({ boxes, layers }: Placed, edge: Topology.Layout["edges"][number]): string => {
  const from = boxes[edge.from]!
  const to = boxes[edge.to]!
  const between = edge.points.slice(1, -1).flatMap(({ lane, layer }) => {
    const x = laneX(lane) + boxWidth / 2
    const { height, y } = layers[layer]!
    return [
      { x, y },
      { x, y: y + height }
    ]
  })
  const start = { x: from.x + boxWidth / 2, y: from.y + from.height }
  const path = [...between, { x: to.x + boxWidth / 2, y: to.y - 7 }].reduce(
    ({ at, text }, next) => {
      const middle = (at.y + next.y) / 2
      const curve = `C ${number(at.x)} ${number(middle)} ${number(next.x)} ${number(middle)}`
      return { at: next, text: `${text} ${at.x === next.x ? "L" : curve} ${number(next.x)} ${number(next.y)}` }
    },
    { at: start, text: `M ${number(start.x)} ${number(start.y)}` }
  ).text
  return `  <path class="edge" marker-end="url(#tip)" d="${path}"/>`
}

const drawBox = (box: Box, isLast: boolean): string => {
  const x = number(box.x + padding)
  const line = (index: number) => number(box.y + padding + 9 + index * lineHeight)
  return [
    `  <rect class="box${isLast ? " last" : ""}" x="${number(box.x)}" y="${number(box.y)}" width="${number(boxWidth)}" height="${number(box.height)}" rx="8"/>`,
    `  <text class="title" x="${x}" y="${line(0)}" xml:space="preserve">${escapeXml(box.title)}</text>`,
    ...box.lines.map(
      (text, index) => `  <text x="${x}" y="${line(index + 1)}" xml:space="preserve">${escapeXml(text)}</text>`
    )
  ].join("\n")
}

/** The picture, as a document of its own. */
export const renderSvg = (workflow: Workflow): string => {
  const heading = summary(workflow)
  const placed = place(workflow, margin + lineHeight + 8)
  const { boxes, layers, layout } = placed
  const last = layers.at(-1)
  const width = Math.max(laneX(Math.max(1, layout.lanes) - 1) + boxWidth + margin, heading.length * 8 + 2 * margin)
  const height = (last === undefined ? margin + lineHeight : last.y + last.height) + margin
  const size = `width="${number(width)}" height="${number(height)}"`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} viewBox="0 0 ${number(width)} ${number(height)}">`,
    `  <title>${escapeXml(`Workflow: ${heading}`)}</title>`,
    `  <style>${style}\n  </style>`,
    `  <defs><marker id="tip" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path class="tip" d="M 0 0 L 8 4 L 0 8 z"/></marker></defs>`,
    `  <rect class="page" ${size}/>`,
    `  <text class="note" x="${margin}" y="${margin + 10}">${escapeXml(heading)}</text>`,
    ...layout.edges.map((edge) => drawEdge(placed, edge)),
    ...boxes.map((box, step) => drawBox(box, step === boxes.length - 1)),
    "</svg>"
  ].join("\n")
}
