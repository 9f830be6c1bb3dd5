/** A tool of one's own: the model asks for it, and the run calls the function. */
import assert from "node:assert/strict"
import { conduct, tool } from "@divisi/core/promise"
import { z } from "zod"
import { close, isStandIn, model } from "./model.ts"

const temperatures: Readonly<Record<string, number>> = { Ulm: 21, Oslo: 9 }

const weather = tool({
  name: "weather",
  description: "The temperature in a city, in degrees Celsius",
  input: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    const degrees = temperatures[city]
    // What is thrown is told to the model, and ends nothing.
    if (degrees === undefined) throw new Error(`Nobody measures in "${city}".`)
    return `${degrees} degrees in ${city}`
  }
})

const result = await conduct({
  question: "How warm is it in Ulm?",
  pool: [model],
  tools: [weather],
  budget: { costUsd: 0.05 }
})

console.log(result.answer)
for (const { tools } of result.transcript.rounds[0]?.steps[0]?.turns ?? [])
  for (const { call, content } of tools)
    console.log(`  ${call.name}(${call.arguments}) gave ${JSON.stringify(content)}`)
assert.equal(result.ending, "answered")
if (isStandIn) assert.equal(result.answer, "I was told: 21 degrees in Ulm")
await close()
