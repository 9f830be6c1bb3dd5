/** The default journal. In a separate module, so that runs without a journal do not load the journal code. */
import * as Context from "effect/Context"
import type { Journal } from "./Journal.ts"

/** The journal for runs that do not set the `journal` option. Default: `undefined`. */
export const AmbientJournal: Context.Reference<Journal | undefined> = Context.Reference("@divisi/core/Journal", {
  defaultValue: (): Journal | undefined => undefined
})
