/** The event types of the Responses API. https://developers.openai.com/api/reference/resources/responses */

export const events = {
  created: "response.created",
  queued: "response.queued",
  inProgress: "response.in_progress",
  completed: "response.completed",
  incomplete: "response.incomplete",
  failed: "response.failed",
  cancelled: "response.cancelled",
  itemAdded: "response.output_item.added",
  itemDone: "response.output_item.done",
  partAdded: "response.content_part.added",
  partDone: "response.content_part.done",
  textDelta: "response.output_text.delta",
  textDone: "response.output_text.done",
  refusalDelta: "response.refusal.delta",
  refusalDone: "response.refusal.done",
  summaryPartAdded: "response.reasoning_summary_part.added",
  summaryPartDone: "response.reasoning_summary_part.done",
  summaryDelta: "response.reasoning_summary_text.delta",
  summaryDone: "response.reasoning_summary_text.done",
  argumentsDelta: "response.function_call_arguments.delta",
  argumentsDone: "response.function_call_arguments.done",
  inputDelta: "response.custom_tool_call_input.delta",
  inputDone: "response.custom_tool_call_input.done"
} as const
