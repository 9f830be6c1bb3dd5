/** Workers for the Gemini API, independent of the transport. */
import type * as Request from "../dialects/generate-content/request.ts"
import type * as Abilities from "./capabilities.ts"

export { reasonOf } from "../dialects/generate-content/errors.ts"
export { withTools } from "../dialects/generate-content/request.ts"
export { capabilitiesOf, families, limitsOf } from "./capabilities.ts"
export type { Defaults, GeminiOptions, WorkerOptions } from "./options.ts"
export { type Choice, type ListPrice, priceOf, prices } from "./prices.ts"
export { type Connection, makeWorker, overConnection, type Transport } from "./worker.ts"

// Aliases, since types that several entry points share would be declared as values in the bundled declarations.
export type Body = Request.Body
export type Capabilities = Abilities.Capabilities
export type Effort = Abilities.Effort
export type Family = Abilities.Family
