/** Draws frames of a terminal as a moving picture, for pages: readers that do not animate see the last frame. */
import { type Line, widthOf } from "../src/view/Line.ts"

/** How wide the terminal is. */
export const columns = 92

const restMillis = 6000

export interface Frame {
  /** When it is shown, in milliseconds of the picture. */
  readonly at: number
  readonly lines: ReadonlyArray<Line>
}

const cell = { width: 7.85, height: 19 }
const margin = { left: 18, top: 46, bottom: 16 }

const escapeXml = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

/** Every span gets its own column, so that fonts of another width do not shift what follows. */
const row = (line: Line, index: number): string => {
  let column = 0
  const spans = line.map(({ style, text }) => {
    const x = margin.left + column * cell.width
    const length = widthOf(text)
    column += length
    const fit = length === 0 ? "" : ` textLength="${(length * cell.width).toFixed(1)}"`
    return text.trim() === "" ? "" : `<tspan x="${x.toFixed(1)}" class="${style}"${fit}>${escapeXml(text)}</tspan>`
  })
  return spans.every((span) => span === "")
    ? ""
    : `<text y="${margin.top + (index + 1) * cell.height}">${spans.join("")}</text>`
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(2)}%`

/** The picture. It begins with the last frame, so that the first paint is a finished run, and then plays again and again. */
export const draw = (frames: ReadonlyArray<Frame>, command: string): string => {
  const last = frames.at(-1)!.at
  const total = last + restMillis
  const height = margin.top + (Math.max(...frames.map(({ lines }) => lines.length)) + 2) * cell.height + margin.bottom
  const width = 2 * margin.left + columns * cell.width
  const shown = frames.map(({ at, lines }, index) => {
    const from = percent(at, total)
    const next = frames[index + 1]
    const hide = next === undefined ? "" : `${percent(next.at, total)}{visibility:hidden}`
    const before = at === 0 ? "" : "0%{visibility:hidden}"
    return {
      rule: `@keyframes f${index}{${before}${from}{visibility:visible}${hide}}.f${index}{animation:f${index} ${total}ms step-end -${last}ms infinite}`,
      group: `<g class="f f${index}${next === undefined ? " last" : ""}">${lines.map((line, at) => row(line, at + 1)).join("")}</g>`
    }
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width.toFixed(0)} ${height}" role="img" aria-label="A run of divisi in a terminal">
<style>
text{font:13px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}
.dim{fill:#8b949e}.bold{font-weight:700}.good{fill:#3fb950}.bad{fill:#f85149}.busy{fill:#d29922}.name{fill:#79c0ff}
.f{visibility:hidden}.last{visibility:visible}
@media (prefers-reduced-motion:no-preference){${shown.map(({ rule }) => rule).join("\n")}}
</style>
<rect width="100%" height="100%" rx="10" fill="#0d1117"/>
<circle cx="22" cy="20" r="6" fill="#f85149"/><circle cx="42" cy="20" r="6" fill="#d29922"/><circle cx="62" cy="20" r="6" fill="#3fb950"/>
<text y="${margin.top}"><tspan x="${margin.left}" class="good">$</tspan><tspan x="${margin.left + 2 * cell.width}">${escapeXml(command)}</tspan></text>
${shown.map(({ group }) => group).join("\n")}
</svg>
`
}
