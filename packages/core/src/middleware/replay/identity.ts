/** The identity of a call in a journal. */
import type { Ask } from "../../loop/call.ts"
import { fingerprint } from "../../run/fingerprint.ts"
import { key } from "../../run/ResponseCache.ts"
import type { Message } from "../../task/Message.ts"

/**
 * The request of the caller: worker, messages, settings and shape, before it is fitted to the worker and to accounts,
 * so that a run can be resumed with another budget. A resumed run builds the same messages, down to the order of
 * properties; user code may order properties differently. The list of tools is not included, because tool servers
 * change their lists and paid answers must remain valid.
 */
export const identityOf = ({
  request: { messages, tools: _, ...rest },
  sample,
  worker
}: Pick<Ask, "request" | "sample" | "worker">): string =>
  key(worker, { ...rest, messages: [] }, sample) + messages.map(digestOf).join()

/** The digests of messages, so that a conversation is hashed once instead of once per turn. */
const digests = new WeakMap<Message, string>()

const digestOf = (message: Message): string => {
  const known = digests.get(message)
  if (known !== undefined) return known
  const digest = fingerprint(JSON.stringify(message))
  digests.set(message, digest)
  return digest
}
