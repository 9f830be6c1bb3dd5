/** Workers over the Gemini API, whatever carries their requests. */
export { type Capabilities, capabilitiesOf, type Effort, type Family, families, limitsOf } from "./capabilities.ts"
export { reasonOf } from "./errors.ts"
export type { Defaults, GeminiOptions, WorkerOptions } from "./options.ts"
export { type Choice, type ListPrice, priceOf, prices, type Rates } from "./prices.ts"
export { type Body, withTools } from "./request.ts"
export { type Connection, makeWorker, overConnection, type Transport } from "./worker.ts"
