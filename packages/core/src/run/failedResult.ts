import { plain } from "../Thrown.ts"
import type { ToolResult } from "../task/Tool.ts"

/** Creates a failed tool result from an error message. */
export const failed = (why: string): ToolResult => ({ content: plain(why), isError: true })
