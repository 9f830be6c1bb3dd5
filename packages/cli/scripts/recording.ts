/**
 * Turns the events of a real run into the moving picture of the README: the very frames that a terminal shows.
 *
 *     node site/scripts/pictures.ts recording
 *
 * runs `divisi run --json > docs/recordings/run.ndjson` and then this with these events, the picture to
 * write, and the command that it shows.
 *
 * The picture plays at a sixth of the real speed from the plan on, so that the eye can follow, and stays on the last
 * frame. Readers that do not animate, or are asked not to, see that frame.
 */
import { readFileSync, writeFileSync } from "node:fs"
import * as Result from "effect/Result"
import * as Recording from "../src/replay/Recording.ts"
import * as BlockView from "../src/view/BlockView.ts"
import { type Line, widthOf } from "../src/view/Line.ts"

const columns = 92
const frameMillis = 40
const slowness = 6
const restMillis = 6000

interface Frame {
  /** When it is shown, in milliseconds of the picture. */
  readonly at: number
  readonly lines: ReadonlyArray<Line>
}

const framesOf = ({ at: runAt, endedAt, run }: Recording.Recording): ReadonlyArray<Frame> => {
  const start = run.startedAt
  const planned = run.rounds[0]?.plannedAt ?? start
  const shownAt = (at: number) => at - start + (slowness - 1) * Math.max(0, at - planned)
  const frames: Array<Frame> = [{ at: 0, lines: [] }]
  for (let at = start; at <= endedAt + frameMillis; at += frameMillis) {
    const now = runAt(at)
    const isOver = now.ending !== undefined
    const lines = isOver ? BlockView.final(now, columns) : BlockView.live(now, { width: columns, now: at })
    const last = frames.at(-1)!
    if (JSON.stringify(last.lines) !== JSON.stringify(lines)) frames.push({ at: shownAt(at) + frameMillis, lines })
    if (isOver) break
  }
  return frames
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

const picture = (frames: ReadonlyArray<Frame>, command: string): string => {
  const total = frames.at(-1)!.at + restMillis
  const height = margin.top + (Math.max(...frames.map(({ lines }) => lines.length)) + 2) * cell.height + margin.bottom
  const width = 2 * margin.left + columns * cell.width
  const shown = frames.map(({ at, lines }, index) => {
    const from = percent(at, total)
    const next = frames[index + 1]
    const hide = next === undefined ? "" : `${percent(next.at, total)}{visibility:hidden}`
    const before = at === 0 ? "" : "0%{visibility:hidden}"
    return {
      rule: `@keyframes f${index}{${before}${from}{visibility:visible}${hide}}.f${index}{animation:f${index} ${total}ms step-end infinite}`,
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

const [source, target, command = "npm start"] = process.argv.slice(2)
if (source === undefined || target === undefined) {
  console.error("Usage: recording.ts EVENTS.ndjson PICTURE.svg [COMMAND]")
  process.exit(2)
}
const frames = framesOf(Result.getOrThrow(Recording.read(readFileSync(source, "utf8"))))
writeFileSync(target, picture(frames, command))
console.log(`${target}: ${frames.length} frames`)
