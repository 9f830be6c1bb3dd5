/** What provider packages share: vendors' errors, stream protocols, keys, rate limits, and the Gemini API. */
export * as ApiKey from "./ApiKey.ts"
export * as Gemini from "./gemini/Gemini.ts"
export * as ProviderGate from "./ProviderGate.ts"
export * as ProviderOptions from "./ProviderOptions.ts"
export * as VendorError from "./VendorError.ts"
export * as VendorStream from "./VendorStream.ts"
