/**
 * Renders workflows as SVG files that follow the reader's light or dark theme. Text can be selected, and screen readers
 * read the steps in order.
 */
import type { Workflow } from "@divisi/core"
import wrapAnsi from "wrap-ansi"
import { type Placed, place } from "./chart/Graph.ts"
import { type Html, html } from "./page/Html.ts"
import * as Picture from "./page/Picture.ts"
import { pictureStyle } from "./page/Style.ts"
import { visible } from "./page/Text.ts"

/** Dimensions in pixels. Text uses a monospaced font, so that its width can be computed. */
const columns = 34
const columnWidth = 7.3
const lineHeight = 18
const padding = 14
const margin = 20
const top = margin + lineHeight + 8
const boxWidth = columns * columnWidth + 2 * padding

/** Maximum number of lines per subtask. */
const mostLines = 8

const style = `${pictureStyle}
svg text{font:12px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--text);white-space:pre}
svg .title{font-weight:600} svg .note{fill:var(--soft)} .page{fill:var(--page)} .box{fill:var(--card)}`

/**
 * Wraps text to the column width, at word boundaries where possible. Text that exceeds the maximum number of lines is
 * replaced by `…`.
 */
const wrapped = (text: string, most: number): ReadonlyArray<string> => {
  // Truncates the text before wrapping. A visible character is at most 16 code units long.
  const beginning = visible(text.trim())
    .replaceAll("\t", "  ")
    .slice(0, 16 * columns * (most + 1))
  const lines = (width: number) => wrapAnsi(beginning, width, { hard: true }).split("\n")
  const all = lines(columns)
  return all.length <= most
    ? all
    : lines(columns - 2)
        .slice(0, most)
        .map((line, index) => (index === most - 1 ? `${line} …` : line))
}

const sees = (access: Workflow.Access): string =>
  access === "all" ? "sees all" : access.length === 0 ? "sees nothing" : `sees ${access.join(", ")}`

const textOf = (workflow: Workflow.Workflow, step: number): ReadonlyArray<string> => {
  const { access, subtask, worker } = workflow.steps[step]!
  return [
    ...wrapped(`${step}  worker ${worker}, ${sees(access)}`, 1),
    ...wrapped(subtask === "" ? "(the question itself)" : subtask, mostLines)
  ]
}

const drawn = (texts: ReadonlyArray<ReadonlyArray<string>>, { boxes, edges }: Placed): Html => {
  const box = (lines: ReadonlyArray<string>, step: number) => {
    const { height, width, x, y } = boxes[step]!
    const text = lines.map(
      (line, index) =>
        html`<text${index === 0 && html` class="title"`} x="${x + padding}" y="${y + padding + 9 + index * lineHeight}">${line}</text>
`
    )
    return html`<rect class="box${step === boxes.length - 1 && " last"}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>
${text}`
  }
  return html`<g transform="translate(${margin} ${top})">
${edges.map(
  (path) => html`<path class="edge" marker-end="url(#tip)" d="${path}"/>
`
)}${texts.map(box)}</g>`
}

/**
 * Renders the workflow as SVG.
 *
 * **Details**
 *
 * `title` is shown above the steps and serves as the accessible name.
 *
 * **Example**
 *
 * ```ts
 * import * as WorkflowPicture from "@divisi/report/WorkflowPicture"
 *
 * const svg = WorkflowPicture.render({ steps: [{ worker: 0, subtask: "Answer it.", access: [] }] }, "One step")
 * ```
 */
export const render = (workflow: Workflow.Workflow, title: string): string => {
  const texts = workflow.steps.map((_, step) => textOf(workflow, step))
  const placed = place(workflow, {
    along: (step) => texts[step]!.length * lineHeight + 2 * padding - 4,
    across: boxWidth,
    gapAlong: 48,
    gapAcross: 28,
    tip: 7
  })
  const width = Math.max(placed.width, title.length * 8) + 2 * margin
  const height = top + placed.height + margin
  return Picture.render(
    { title: `Workflow: ${title}`, width, height, style },
    html`<defs><marker id="tip" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path class="tip" d="M 0 0 L 8 4 L 0 8 z"/></marker></defs>
<rect class="page" width="${width}" height="${height}"/>
<text class="note" x="${margin}" y="${margin + 10}">${title}</text>
${drawn(texts, placed)}
`
  )
}
