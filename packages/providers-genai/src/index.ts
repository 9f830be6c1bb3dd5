export { type Capabilities, capabilitiesOf, type Effort, type Family, families, limitsOf } from "./capabilities.ts"
export { type GenaiOptions, genai } from "./genai.ts"
export type { ApiKey, Defaults, GeminiOptions } from "./options.ts"
export { type Choice, type ListPrice, priceOf, prices, type Rates } from "./prices.ts"
