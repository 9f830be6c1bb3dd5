/** OpenAI's Responses as a wire. */
import * as OpenAi from "../wire/OpenAi.ts"
import type { Wire } from "../wire/Wire.ts"
import { read } from "./ResponsesReader.ts"
import { begin, type ResponsesState, whole, write } from "./ResponsesWriter.ts"

export const responses: Wire<ResponsesState> = {
  name: "responses",
  // A response repeats its tools, and is written by them.
  conversation: "input",
  said: ["input"],
  read,
  begin,
  write,
  whole,
  error: OpenAi.errorBody
}
