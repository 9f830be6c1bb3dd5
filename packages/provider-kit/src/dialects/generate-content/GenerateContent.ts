/** Google's `generateContent` API. */
import type * as Request from "./request.ts"

/** @internal */
export { endingOf } from "./endings.ts"
/** @internal */
export { reasonOf, reasonOfEvent, reasonOfRefused } from "./errors.ts"
/** @internal */
export { toBody, withTools } from "./request.ts"
/** @internal */
export { protocolOf, type State } from "./stream.ts"
/** @internal */
export { counted, usageOf } from "./usage.ts"

// Type aliases, because types shared by several entry points would otherwise be emitted as values in the bundled
// declarations.
/** @internal */
export type Body = Request.Body
