import { plain } from "../Thrown.ts"
import type { ToolResult } from "../task/Tool.ts"

/** Makes a failed tool result with the reason. */
export const failed = (why: string): ToolResult => ({ content: plain(why), isError: true })
