/** Middleware of calls that only some runs have, loaded with the first of them. */
export { cache } from "./cache/cache.ts"
export { intent } from "./intent/intent.ts"
export { payerCharged, payerReported } from "./payer/payer.ts"
export { settleRest } from "./replay/charges.ts"
export { replay } from "./replay/replay.ts"
