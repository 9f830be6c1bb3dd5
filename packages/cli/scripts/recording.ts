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
import { columns, draw, type Frame } from "./picture.ts"

const frameMillis = 40
const slowness = 6

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

const [source, target, command = "npm start"] = process.argv.slice(2)
if (source === undefined || target === undefined) {
  console.error("Usage: recording.ts EVENTS.ndjson PICTURE.svg [COMMAND]")
  process.exit(2)
}
const frames = framesOf(Result.getOrThrow(Recording.read(readFileSync(source, "utf8"))))
writeFileSync(target, draw(frames, command))
console.log(`${target}: ${frames.length} frames`)
