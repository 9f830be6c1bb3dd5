/** A tool that a person is asked about. The run waits for the word; meanwhile nothing runs, and nothing is reserved. */
import assert from "node:assert/strict"
import { conduct, tool } from "@divisi/core/promise"
import { z } from "zod"
import { close, isStandIn, model } from "./model.ts"

const booked: Array<string> = []

const book = tool({
  name: "book",
  description: "Books a table in a town",
  input: z.object({ town: z.string() }),
  needsApproval: true,
  execute: ({ town }) => {
    booked.push(town)
    return `A table in ${town} is booked.`
  }
})

const asked = await conduct({ question: "Book me a table in Ulm.", pool: [model], tools: [book] })
if (asked.ending === "suspended") {
  for (const { call } of asked.waitingFor) console.log(`May I? ${call.name}(${call.arguments})`)
  assert.deepEqual(booked, [])
  // Where `approve` is among the options, the run asks by itself instead.
  const results = Object.fromEntries(asked.waitingFor.map(({ id }) => [id, { approved: true }]))
  const done = await asked.resume(results)
  console.log(done.answer)
  assert.equal(done.ending, "answered")
}
if (isStandIn) assert.deepEqual([asked.ending, booked], ["suspended", ["Ulm"]])
await close()
