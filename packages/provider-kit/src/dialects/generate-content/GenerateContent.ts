/** Google's `generateContent` API. */
import type * as Request from "./request.ts"

export { endingOf } from "./endings.ts"
export { reasonOf, reasonOfEvent, reasonOfRefused } from "./errors.ts"
export { toBody, withTools } from "./request.ts"
export { protocolOf, type State } from "./stream.ts"
export { counted, usageOf } from "./usage.ts"

// Type aliases, because types shared by several entry points would otherwise be emitted as values in the bundled
// declarations.
export type Body = Request.Body
