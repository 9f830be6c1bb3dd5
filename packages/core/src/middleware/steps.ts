/** Middleware of rounds and steps that only some runs need. It is loaded on first use. */
export { approve } from "./approve/approve.ts"
export { check } from "./check/check.ts"
export { context } from "./context/context.ts"
export { critic } from "./critic/critic.ts"
export { delegation, nested } from "./nested/nested.ts"
export { settings } from "./settings/settings.ts"
export { shape } from "./shape/shape.ts"
export { tools } from "./tools/tools.ts"
