/** From code: the server is started for this block, and a person would be asked before a note is added. */
import assert from "node:assert/strict"
import { conduct } from "@divisi/core/promise"
import { openTools } from "@divisi/tools-mcp/promise"
import { model, notes } from "./team.ts"

await using servers = await openTools({ notes })
assert.deepEqual(servers.problems, [])
const options = { pool: [model], tools: servers.tools }

const found = await conduct({ ...options, question: "What do the notes say of Ulm?" })
console.log(found.answer)
assert.equal(found.answer, "The notes say: Ulm has the tallest church of all.")

const added = await conduct({
  ...options,
  question: "Note: Bonn has a harbour.",
  approve: async ({ call }) => {
    console.log(`  may ${call.name} be run with ${call.arguments}? yes`)
    return true
  }
})
console.log(added.answer)
assert.equal(added.answer, "The notes say: There are 3 notes.")

// Where nobody can be asked, the run waits for a word.
const waiting = await conduct({ ...options, question: "Note: Kiel has one, too." })
assert.equal(waiting.ending, "suspended")
