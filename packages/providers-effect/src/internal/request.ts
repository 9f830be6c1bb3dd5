/** Turns a worker's request into a prompt of Effect. */
import { type Message, plain } from "@divisi/core/Message"
import type { WorkerRequest } from "@divisi/core/Worker"
import type * as Prompt from "effect/ai/Prompt"

/** One turn. */
export const messageOf = (said: Message): Prompt.MessageEncoded => {
  const { content, role } = plain(said)
  return role === "system" ? { role, content } : { role, content: [{ type: "text", text: content }] }
}

/** The settings that a request sets. */
export const settingsOf = ({
  format: _,
  messages: __,
  ...settings
}: WorkerRequest): Omit<WorkerRequest, "messages" | "format"> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
