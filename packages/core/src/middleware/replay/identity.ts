/** Identifies calls in a journal. */
import type { Ask } from "../../loop/call.ts"
import { fingerprint } from "../../run/fingerprint.ts"
import { key } from "../../run/ResponseCache.ts"
import type { Message } from "../../task/Message.ts"

/**
 * Returns the identity of a call: the caller's worker, messages, settings and output format, before any adjustment for
 * the worker or for account limits. This lets a run be resumed with a different budget. A resumed run builds identical
 * messages, including the order of properties, whereas user code may order properties differently. Tools are excluded,
 * because tool servers may change their lists and paid answers must remain valid.
 */
export const identityOf = ({
  request: { messages, tools: _, ...rest },
  sample,
  worker
}: Pick<Ask, "request" | "sample" | "worker">): string =>
  key(worker, { ...rest, messages: [] }, sample) + messages.map(digestOf).join()

/** Cached digests of messages, so that a conversation is hashed only once rather than in every turn. */
const digests = new WeakMap<Message, string>()

const digestOf = (message: Message): string => {
  const known = digests.get(message)
  if (known !== undefined) return known
  const digest = fingerprint(JSON.stringify(message))
  digests.set(message, digest)
  return digest
}
