/** Anthropic's Messages API. */
export * as Echo from "./echo.ts"
export { next, protocolOf, type State } from "./stream.ts"
export { type Counts, counted, usageOf } from "./usage.ts"
export { eventsOf } from "./whole.ts"
