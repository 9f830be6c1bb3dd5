/** Loads `thrownError.ts` when the first third-party error occurs. */
import { onDemand } from "../OnDemand.ts"

/** Runs an effect with the module. */
export const withThrown = onDemand(() => import("./thrownError.ts"))
