/** Contracts for providers, engines and journals, and local servers that implement vendors' formats. */
export * from "./engines.ts"
export * from "./journals.ts"
export * from "./providers.ts"
