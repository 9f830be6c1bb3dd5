/** Workers over the Gemini API, whatever carries their requests. */

export { reasonOf } from "../dialects/generate-content/errors.ts"
export { type Body, withTools } from "../dialects/generate-content/request.ts"
export { type Capabilities, capabilitiesOf, type Effort, type Family, families, limitsOf } from "./capabilities.ts"
export type { Defaults, GeminiOptions, WorkerOptions } from "./options.ts"
export { type Choice, type ListPrice, priceOf, prices, type Rates } from "./prices.ts"
export { type Connection, makeWorker, overConnection, type Transport } from "./worker.ts"
