/** The journal of the context, in a file without other code: most runs use no journal. */
import * as Context from "effect/Context"
import type { Journal } from "./Journal.ts"

/** The journal of all runs that are given none of their own; none by default. */
export const AmbientJournal: Context.Reference<Journal | undefined> = Context.Reference("@divisi/core/Journal", {
  defaultValue: (): Journal | undefined => undefined
})
