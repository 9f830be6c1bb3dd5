/** Google's `generateContent`. */
export { blockedOf, endingOf } from "./endings.ts"
export { reasonOf, reasonOfEvent, reasonOfRefused } from "./errors.ts"
export { type Body, type Target, toBody, withTools } from "./request.ts"
export { protocolOf, type State } from "./stream.ts"
export { counted, usageOf } from "./usage.ts"
