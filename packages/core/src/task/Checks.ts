/** The public module of checks. A run without checks loads only `Check.ts`. */
export * from "./Check.ts"
export { checkFailed } from "./objection.ts"
