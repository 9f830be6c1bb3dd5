/** Anthropic's Messages API. */
export * as Echo from "./echo.ts"
export { deltas, events } from "./events.ts"
export { next, protocolOf, type State } from "./stream.ts"
/** @internal */
export { type Counts, counted, reported, usageOf } from "./usage.ts"
export { eventsOf } from "./whole.ts"
