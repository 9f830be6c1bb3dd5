/** From a worker's request to a prompt of Effect. */
import type { Message } from "@divisi/core/Task"
import type { WorkerRequest } from "@divisi/core/Worker"
import type * as Prompt from "effect/ai/Prompt"

/** One turn. */
export const messageOf = ({ content, role }: Message): Prompt.MessageEncoded =>
  role === "system" ? { role, content } : { role, content: [{ type: "text", text: content }] }

/** What a request sets, without what it leaves open. */
export const settingsOf = ({
  format: _,
  messages: __,
  ...settings
}: WorkerRequest): Omit<WorkerRequest, "messages" | "format"> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
