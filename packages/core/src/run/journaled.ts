/** Loads `JournaledRun.ts` with the first run that has a journal, is resumed, or is a fork. */
import { onDemand } from "../OnDemand.ts"

/** Uses runs in journals. */
export const withJournaledRun = onDemand(() => import("./JournaledRun.ts"))
