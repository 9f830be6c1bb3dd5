/**
 * Compaction: a worker summarizes a conversation, and the client sends the summary in place of the original messages.
 */
import { textOf, type Wire } from "../wire/Wire.ts"
import * as CompactionItem from "./CompactionItem.ts"
import * as ResponseObject from "./ResponseObject.ts"
import { responses } from "./Responses.ts"
import type { ResponsesState } from "./ResponsesWriter.ts"

/** The wire for `/v1/responses/compact`. Its responses are never streamed. */
export const compaction: Wire<ResponsesState> = {
  ...responses,
  name: "compact",
  *read(body, headers) {
    return { ...CompactionItem.summarizing(yield* responses.read(body, headers)), isStreamed: false }
  },
  whole: (about, parts) => {
    const finish = parts.find((part) => part.type === "finish")
    return {
      id: `resp_${about.id}`,
      object: "response.compaction",
      created_at: about.createdAt,
      output: [CompactionItem.make(about.id, textOf(parts))],
      usage: finish && ResponseObject.usageOf(finish.usage)
    }
  }
}
