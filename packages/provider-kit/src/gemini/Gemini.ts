/** Workers over the Gemini API, whichever of Google's two SDKs carries it. */
export { type Capabilities, capabilitiesOf, type Effort, type Family, families, limitsOf } from "./capabilities.ts"
export { type ErrorBody, type Facts, ofConnection, reasonOf } from "./errors.ts"
export type { Defaults, GeminiOptions } from "./options.ts"
export { type Choice, type ListPrice, priceOf, prices, type Rates } from "./prices.ts"
export type { Body } from "./request.ts"
export type { Chunk } from "./stream.ts"
export { makeWorker, type Sdk } from "./worker.ts"
