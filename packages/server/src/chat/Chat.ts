/** The Chat Completions wire. */
import * as OpenAi from "../wire/OpenAi.ts"
import type { Wire } from "../wire/Wire.ts"
import { read } from "./ChatReader.ts"
import { begin, type ChatState, whole, write } from "./ChatWriter.ts"

export const chat: Wire<ChatState> = {
  name: "chat",
  conversation: "messages",
  said: ["messages", "tools"],
  read,
  begin,
  write,
  whole,
  error: OpenAi.errorBody
}
