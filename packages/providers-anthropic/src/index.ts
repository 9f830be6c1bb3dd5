export { anthropic } from "./anthropic.ts"
export { type Capabilities, type Family, families, limitsOf } from "./capabilities.ts"
export type { AnthropicOptions, Defaults } from "./options.ts"
export { type Choice, type ListPrice, priceOf, prices, type Rates } from "./prices.ts"
