/** Loads `partStreams.ts` when the first streamed answer arrives. */
import { onDemand } from "../OnDemand.ts"

/** Runs an effect with the module. */
export const withStreams = onDemand(() => import("./partStreams.ts"))
