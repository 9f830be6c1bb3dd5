import { plain } from "../Thrown.ts"
import type { ToolResult } from "../task/Tool.ts"

/** Makes a failed result of a tool with its reason. */
export const failed = (why: string): ToolResult => ({ content: plain(why), isError: true })
