/**
 * Runs every public parser on hostile text, and checks that its run time grows no faster than n^1.5.
 *
 *     pnpm linear [--megabytes 8] [--reader plan] [--shape answer] [--short]
 *
 * `--megabytes` is the length of the longest text, in units of 2^20 characters. A parser with a fixed length limit also
 * receives longer text. The short form, used by `npm run test:longest`, tries text of up to 2^15 characters and a sixth
 * of the shapes per parser, in turn, or a few for slow parsers. Prints a line for each failure and a summary. The exit
 * code is 1 if anything fails.
 */
import { parseArgs } from "node:util"
import * as Growth from "./Growth.ts"
import * as Readers from "./Readers.ts"
import * as Shapes from "./Shapes.ts"

const { values } = parseArgs({
  options: {
    megabytes: { type: "string", default: "8" },
    reader: { type: "string", default: "" },
    shape: { type: "string", default: "" },
    short: { type: "boolean", default: false }
  }
})

const longest = values.short ? 2 ** 15 : Number(values.megabytes) * 2 ** 20
const [someOf, fewOf] = [6, 60]
const readers = Readers.all.filter(({ name }) => name.includes(values.reader))
const shapes = Shapes.all.filter(({ name }) => name.includes(values.shape))
const shapesOf = (reader: Readers.Reader) => {
  if (!values.short) return shapes
  const of = reader.bound === undefined && reader.isSlow !== true ? someOf : fewOf
  return shapes.filter((_, index) => index % of === readers.indexOf(reader) % of)
}
const sizesOf = ({ bound }: Readers.Reader) =>
  bound === undefined
    ? { shortest: Growth.shortest, longest }
    : { shortest: 2 * bound, longest: Math.max(longest, 8 * bound) }
const total = readers.reduce((sum, reader) => sum + shapesOf(reader).length, 0)
let done = 0
let failures = 0

for (const reader of readers) {
  let worst = 0
  let slowest = 0
  for (const shape of shapesOf(reader)) {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${total}: ${reader.name}, ${shape.name}\u001b[K`)
    const growth = await Growth.measure(reader.read, shape.of, sizesOf(reader))
    done += 1
    worst = Math.max(worst, growth.worst)
    slowest = Math.max(slowest, growth.lastMillis)
    if (growth.failedAt === undefined) continue
    failures += 1
    const what = growth.thrown ?? `four times the text take ${growth.worst.toFixed(1)} times longer`
    console.log(`${reader.name}, ${shape.name}, ${growth.failedAt} characters: ${what}`)
  }
  console.log(
    `${reader.name}: ${worst === 0 ? "too fast to measure" : `at most ${worst.toFixed(1)} for 4`} (${Math.round(slowest)} ms)`
  )
}
console.log(
  `${readers.length} readers, ${shapes.length} shapes, ${total} pairs, to ${longest} characters: ${failures} failures`
)
process.exitCode = failures === 0 ? 0 : 1
