/** An answer in a schema: a value of its type, or the reason why there is none. */
import assert from "node:assert/strict"
import { conduct } from "@divisi/core/promise"
import { z } from "zod"
import { close, isStandIn, model } from "./model.ts"

const City = z.object({ name: z.string(), country: z.string() })

const result = await conduct({
  question: "Which city is it: Ulm, in Germany?",
  pool: [model],
  output: { type: "json-schema", name: "city", schema: City }
})
assert.equal(result.ending, "answered")
const city = City.parse(result.value)
console.log(`${city.name} lies in ${city.country}.`)
if (isStandIn) assert.deepEqual(city, { name: "Ulm", country: "Germany" })
await close()
