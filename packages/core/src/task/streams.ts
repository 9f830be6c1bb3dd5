/** Loads `partStreams.ts` with the first answer that arrives in pieces. */
import { onDemand } from "../OnDemand.ts"

/** Uses streams. */
export const withStreams = onDemand(() => import("./partStreams.ts"))
