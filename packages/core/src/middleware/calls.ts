/** Call middleware that only some runs need. Loaded on first use. */
export { cache } from "./cache/cache.ts"
export { intent } from "./intent/intent.ts"
export { payerCharged, payerReported } from "./payer/payer.ts"
export { settleRest } from "./replay/charges.ts"
export { recalling, replay } from "./replay/replay.ts"
