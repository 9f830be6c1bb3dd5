/** The wire for OpenAI's Responses API. */
import * as OpenAi from "../wire/OpenAi.ts"
import type { Wire } from "../wire/Wire.ts"
import { read } from "./ResponsesReader.ts"
import { begin, type ResponsesState, whole, write } from "./ResponsesWriter.ts"

export const responses: Wire<ResponsesState> = {
  name: "responses",
  // `tools` is not listed here, because a response repeats the request's tools.
  conversation: "input",
  said: ["input"],
  read,
  begin,
  write,
  whole,
  error: OpenAi.errorBody
}
