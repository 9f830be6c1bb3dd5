/** Loads `thrownError.ts` with the first error of code that is not ours. */
import { onDemand } from "../OnDemand.ts"

/** Uses the reader of thrown errors. */
export const withThrown = onDemand(() => import("./thrownError.ts"))
