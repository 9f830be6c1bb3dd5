/**
 * Shared code for provider packages: vendors' errors, JSON and streams, keys, base URLs, rate limits, and the Gemini
 * API.
 */
export * as ApiKey from "./ApiKey.ts"
export * as Dialects from "./dialects/Dialects.ts"
export * as Endpoint from "./Endpoint.ts"
export * as Gemini from "./gemini/Gemini.ts"
export * as ModelTurn from "./ModelTurn.ts"
export * as ProviderOptions from "./ProviderOptions.ts"
export * as VendorBatch from "./VendorBatch.ts"
export * as VendorError from "./VendorError.ts"
export * as VendorEvents from "./VendorEvents.ts"
export * as VendorJson from "./VendorJson.ts"
export * as VendorStream from "./VendorStream.ts"
