/** Loads `JournaledRun.ts` on first use: when a run has a journal, is resumed, or is a fork. */
import { onDemand } from "../OnDemand.ts"

/** Runs an effect with the module. */
export const withJournaledRun = onDemand(() => import("./JournaledRun.ts"))
