/** The wire for Anthropic's Messages API. */
import type { Wire } from "../wire/Wire.ts"
import { errorBody } from "./MessagesError.ts"
import { read } from "./MessagesReader.ts"
import { begin, type MessagesState, whole, write } from "./MessagesWriter.ts"

export const messages: Wire<MessagesState> = {
  name: "messages",
  conversation: "messages",
  said: ["system", "messages", "tools"],
  read,
  begin,
  write,
  whole,
  error: errorBody
}
