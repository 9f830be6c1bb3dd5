/** The pool in code: two workers at once, and one that sees both. */
import assert from "node:assert/strict"
import { conduct } from "@divisi/core/promise"
import { plan } from "./plan.ts"
import { pool } from "./pool.ts"

const question = 'How many words has "the quick brown fox", and what is another word for quick?'

const result = await conduct({ question, pool, policy: plan, budget: { costUsd: 0.01 } })

console.log(`${result.answer} (${result.spend.calls} calls, $${result.spend.costUsd.toFixed(6)})`)
assert.equal(result.ending, "answered")
assert.equal(result.answer, "4 words; fast")
assert(result.spend.costUsd > 0 && result.spend.costUsd < 0.01)
