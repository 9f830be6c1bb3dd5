/** A question with a picture. It goes to workers that see; a pool without one is told so before anything is paid. */
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { conduct, worker } from "@divisi/core/promise"
import { close, isStandIn, model } from "./model.ts"

const data = await readFile(new URL("picture.png", import.meta.url))
const question = [
  { type: "text", text: "What do you see?" },
  { type: "image", data, mediaType: "image/png" }
] as const

const result = await conduct({ question, pool: [model] })
console.log(result.answer)
assert.equal(result.ending, "answered")
if (isStandIn) assert.equal(result.answer, "A picture of 24 by 16 pixels.")

const blind = worker({ id: "blind", answer: () => "Nothing." })
const unseen = await conduct({ question, pool: [blind] })
console.log(`${unseen.ending}: ${unseen.detail}`)
assert.deepEqual([unseen.ending, unseen.spend.calls], ["failed", 0])

// Or it is left out, which the run says in a notice.
const without = await conduct({ question, pool: [blind], unsupported: "omit" })
console.log(without.answer, without.transcript.rounds[0]?.steps[0]?.notices)
assert.equal(without.answer, "Nothing.")
await close()
