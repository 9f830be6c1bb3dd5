/** Contracts of providers and engines, and local servers that speak the formats of vendors. */
export * from "./engines.ts"
export * from "./providers.ts"
