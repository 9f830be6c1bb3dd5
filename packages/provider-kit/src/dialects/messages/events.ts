/** The event types of the Messages API. https://platform.claude.com/docs/en/build-with-claude/streaming */

export const events = {
  messageStart: "message_start",
  blockStart: "content_block_start",
  blockDelta: "content_block_delta",
  blockStop: "content_block_stop",
  messageDelta: "message_delta",
  messageStop: "message_stop",
  error: "error",
  ping: "ping"
} as const

/** The delta types of a block. */
export const deltas = {
  text: "text_delta",
  thinking: "thinking_delta",
  signature: "signature_delta",
  input: "input_json_delta"
} as const
