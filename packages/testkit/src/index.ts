/** Contracts of providers, engines and journals, and local servers that speak the formats of vendors. */
export * from "./engines.ts"
export * from "./journals.ts"
export * from "./providers.ts"
