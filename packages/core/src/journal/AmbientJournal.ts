/** The default journal. It has its own file, because most runs use no journal and should not load its code. */
import * as Context from "effect/Context"
import type { Journal } from "./Journal.ts"

/** The journal of runs without a `journal` option. Default: none. */
export const AmbientJournal: Context.Reference<Journal | undefined> = Context.Reference("@divisi/core/Journal", {
  defaultValue: (): Journal | undefined => undefined
})
