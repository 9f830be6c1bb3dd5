/** Compaction: a worker writes what a conversation comes to, for the client to send in its place. */
import { textOf, type Wire } from "../wire/Wire.ts"
import { sealed } from "./CompactionItem.ts"
import * as ResponseObject from "./ResponseObject.ts"
import { responses } from "./Responses.ts"
import type { ResponsesState } from "./ResponsesWriter.ts"

const prompt =
  "Write down what this conversation comes to, for somebody who goes on with it and has not read it: what the user wants, word for word where that matters; what was found out, decided and done, with names, paths and figures; what is left to do. Write nothing else."

/** Compaction as a wire, whose responses are never streamed. */
export const compaction: Wire<ResponsesState> = {
  ...responses,
  name: "compact",
  read: (body, headers) => {
    const request = responses.read(body, headers)
    const [first, ...rest] = request.messages
    return {
      ...request,
      messages: [first, ...rest, { role: "user", content: prompt }],
      toolChoice: "none",
      output: undefined,
      isStreamed: false
    }
  },
  whole: (about, parts) => {
    const finish = parts.find((part) => part.type === "finish")
    return {
      id: `resp_${about.id}`,
      object: "response.compaction",
      created_at: about.createdAt,
      output: [{ type: "compaction", id: `cmp_${about.id}`, encrypted_content: sealed(textOf(parts)) }],
      usage: finish && ResponseObject.usageOf(finish.usage)
    }
  }
}
