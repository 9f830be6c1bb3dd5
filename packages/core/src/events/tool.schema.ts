/** Schemas for the events of tools. */
import * as Schema from "effect/Schema"
import { event, inTurn } from "./schemas/eventFields.ts"
import { Content } from "./schemas/tasks.ts"

const ofTool = { ...inTurn, index: Schema.Int, name: Schema.String }

export const ToolStarted = event("tool-started", "The handler of a tool is called.", ofTool)

export const ToolProgressed = event(
  "tool-progress",
  "A running tool has reported its progress. Journals do not store it.",
  {
    ...ofTool,
    progress: Schema.optionalKey(Schema.Finite),
    total: Schema.optionalKey(Schema.Finite),
    message: Schema.optionalKey(Schema.String)
  }
)

export const ToolFinished = event("tool-finished", "A tool call has its result, from the handler or from the caller.", {
  ...ofTool,
  content: Content,
  isError: Schema.Boolean,
  durationMillis: Schema.Finite
})
