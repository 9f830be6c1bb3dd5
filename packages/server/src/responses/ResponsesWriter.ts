/** Writes responses in the format of the Responses API, as one body or as a stream of events. */
import { Dialects } from "@divisi/provider-kit"
import type { ApiError } from "../wire/ApiError.ts"
import type { JsonObject } from "../wire/Json.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import * as Tools from "../wire/Tools.ts"
import { type About, event, type Part, type Written } from "../wire/Wire.ts"
import * as CompactionItem from "./CompactionItem.ts"
import * as ResponseObject from "./ResponseObject.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

const Types = Dialects.ResponsesEvents.events

/** The open output item: a message with one part, or reasoning with notes. */
type Open =
  | {
      readonly type: "message"
      readonly part: "output_text" | "refusal"
      readonly text: string
      readonly by: string | undefined
    }
  | { readonly type: "reasoning"; readonly notes: ReadonlyArray<string> }

/** State of a response that is being written. */
export interface ResponsesState {
  readonly about: About
  readonly tools: ReadonlyArray<Tools.Offered>
  /** Completed output items. */
  readonly output: ReadonlyArray<JsonObject>
  readonly open: Open | undefined
  /**
   * The text of a compaction summary. Set only if the client requested compaction; the text is sent once it is
   * complete.
   */
  readonly summary?: string | undefined
  readonly progress: Pick<ResponseObject.Progress, "status" | "finish" | "incomplete" | "error">
  /** Sequence number of the next event. */
  readonly sequence: number
  /** Sequence number of the last event that the client already has. Events up to this number are not sent. */
  readonly after: number
}

/** An event without its sequence number. */
type Event = { readonly type: string } & JsonObject

/** The state after a part, and the events to send. */
type Step = readonly [state: ResponsesState, events: ReadonlyArray<Event>]

/** Returns the response object for a state. */
export const objectOf = ({ about, output, progress }: ResponsesState): JsonObject =>
  ResponseObject.make(about, { ...progress, output })

// -------------------------------------------------------------------------------------------------------------------
// Items
// -------------------------------------------------------------------------------------------------------------------

/** Returns the agent of an item for clients that request it: a worker id, or `divisi` for the Conductor. */
const agentOf = ({ about }: ResponsesState, by: string | undefined): JsonObject =>
  about.request.isTagged === true ? { agent: { agent_name: by ?? "divisi" } } : {}

const itemId = (prefix: string, { about, output }: ResponsesState): string => `${prefix}_${about.id}_${output.length}`

const partOf = (part: "output_text" | "refusal", text: string): JsonObject =>
  part === "refusal" ? { type: part, refusal: text } : { type: part, text, annotations: [], logprobs: [] }

/** Phase of a message: the answer, or commentary. Sent only to clients that receive notes as commentary messages. */
type Phase = "commentary" | "final_answer"

const messageOf = (
  id: string,
  status: string,
  content: ReadonlyArray<JsonObject>,
  agent: JsonObject,
  phase?: Phase | undefined
): JsonObject => ({
  type: "message",
  id,
  status,
  role: "assistant",
  content,
  ...(phase === undefined ? {} : { phase }),
  ...agent
})

const summary = (text: string): JsonObject => ({ type: "summary_text", text })

/** Adds a completed item, with its closing event. */
const done = (state: ResponsesState, item: JsonObject, events: ReadonlyArray<Event>): Step => [
  { ...state, open: undefined, output: [...state.output, item] },
  [...events, { type: Types.itemDone, output_index: state.output.length, item }]
]

/** Closes the open item. A message followed by tool calls is commentary, not an answer. */
const close = (
  state: ResponsesState,
  status: "completed" | "incomplete" = "completed",
  phase: Phase = "final_answer"
): Step => {
  const { open } = state
  if (open === undefined) return [state, []]
  if (open.type === "reasoning") {
    const item = {
      type: "reasoning",
      id: itemId("rs", state),
      summary: open.notes.map(summary),
      ...agentOf(state, undefined)
    }
    return done(state, item, [])
  }
  const at = { item_id: itemId("msg", state), output_index: state.output.length, content_index: 0 }
  const part = partOf(open.part, open.text)
  const said: Event =
    open.part === "refusal"
      ? { type: Types.refusalDone, ...at, refusal: open.text }
      : { type: Types.textDone, ...at, text: open.text, logprobs: [] }
  const told = state.about.request.isCommented === true ? phase : undefined
  return done(state, messageOf(at.item_id, status, [part], agentOf(state, open.by), told), [
    said,
    { type: Types.partDone, ...at, part }
  ])
}

const added = ({ output }: ResponsesState, item: JsonObject): Event => ({
  type: Types.itemAdded,
  output_index: output.length,
  item
})

/** Appends text to the open message, or opens a new one. */
const say = (before: ResponsesState, part: "output_text" | "refusal", text: string, by: string | undefined): Step => {
  const isOpen = before.open?.type === "message" && before.open.part === part
  const [state, closed] = isOpen ? [before, []] : close(before)
  const at = { item_id: itemId("msg", state), output_index: state.output.length, content_index: 0 }
  const begun: ReadonlyArray<Event> = isOpen
    ? []
    : [
        added(state, messageOf(at.item_id, "in_progress", [], agentOf(state, by))),
        { type: Types.partAdded, ...at, part: partOf(part, "") }
      ]
  const piece: Event =
    part === "refusal"
      ? { type: Types.refusalDelta, ...at, delta: text }
      : { type: Types.textDelta, ...at, delta: text, logprobs: [] }
  const said = state.open?.type === "message" && isOpen ? state.open.text + text : text
  return [{ ...state, open: { type: "message", part, text: said, by } }, [...closed, ...begun, piece]]
}

/** Adds a complete commentary message. */
const comment = (before: ResponsesState, text: string, by: string | undefined): Step => {
  const [ready, closed] = close(before)
  const [said, events] = say(ready, "output_text", text, by)
  const [state, ended] = close(said, "completed", "commentary")
  return [state, [...closed, ...events, ...ended]]
}

/** Adds a note, either as part of a reasoning summary or as a commentary message. */
const note = (before: ResponsesState, text: string, by: string | undefined): Step => {
  if (before.about.request.isCommented === true) return comment(before, text, by)
  const notes = before.open?.type === "reasoning" ? before.open.notes : undefined
  const [state, closed] = notes === undefined ? close(before) : [before, []]
  const item_id = itemId("rs", state)
  const at = { item_id, output_index: state.output.length, summary_index: notes?.length ?? 0 }
  const agent = agentOf(state, undefined)
  const begun = notes === undefined ? [added(state, { type: "reasoning", id: item_id, summary: [], ...agent })] : []
  return [
    { ...state, open: { type: "reasoning", notes: [...(notes ?? []), text] } },
    [
      ...closed,
      ...begun,
      { type: Types.summaryPartAdded, ...at, part: summary("") },
      { type: Types.summaryDelta, ...at, delta: text },
      { type: Types.summaryDone, ...at, text },
      { type: Types.summaryPartDone, ...at, part: summary(text) }
    ]
  ]
}

/** Adds the run state to the open reasoning item, or to a new one. */
const carry = (before: ResponsesState, encrypted_content: string): Step => {
  const notes = before.open?.type === "reasoning" ? before.open.notes : undefined
  const [state, closed] = notes === undefined ? close(before, "completed", "commentary") : [before, []]
  const item = {
    type: "reasoning",
    id: itemId("rs", state),
    summary: (notes ?? []).map(summary),
    encrypted_content,
    ...agentOf(state, undefined)
  }
  const begun = notes === undefined ? [added(state, { ...item, encrypted_content: "" })] : []
  return done(state, item, [...closed, ...begun])
}

/** Returns the format for a call: functions have JSON arguments, custom tools have free-form input. */
const writing = (state: ResponsesState, call: Extract<Part, { readonly type: "tool-call" }>) => {
  const tool = Tools.calledOf(state.tools, call)
  const named = {
    call_id: call.id,
    name: tool?.name ?? call.name,
    ...(tool?.namespace === undefined ? {} : { namespace: tool.namespace }),
    ...agentOf(state, call.by)
  }
  if (tool?.type === "custom") {
    const item = { type: "custom_tool_call", id: itemId("ctc", state), status: "completed", ...named }
    return { item, given: { input: Tools.textOf(call) }, types: [Types.inputDelta, Types.inputDone] as const }
  }
  const item = { type: "function_call", id: itemId("fc", state), status: "completed", ...named }
  return { item, given: { arguments: call.arguments }, types: [Types.argumentsDelta, Types.argumentsDone] as const }
}

const call = (before: ResponsesState, made: Extract<Part, { readonly type: "tool-call" }>): Step => {
  const [state, closed] = close(before, "completed", "commentary")
  const tool = Tools.calledOf(state.tools, made)
  if (tool?.type === "item") {
    const own = { type: `${tool.name}_call`, id: itemId(tool.name, state), call_id: made.id }
    const item = { ...Tools.fieldsOf(made), ...own, status: "completed", ...agentOf(state, made.by) }
    return done(state, item, [...closed, added(state, { ...item, status: "in_progress" })])
  }
  const { given, item, types } = writing(state, made)
  const at = { item_id: item.id, output_index: state.output.length }
  const [name, text] = Object.entries(given)[0]!
  return done(state, { ...item, ...given }, [
    ...closed,
    added(state, { ...item, status: "in_progress", [name]: "" }),
    { type: types[0], ...at, delta: text },
    { type: types[1], ...at, name: item.name, ...given }
  ])
}

const outputIds: ReadonlyMap<unknown, string> = new Map([
  ["function_call_output", "fco"],
  ["custom_tool_call_output", "ctco"]
])

/** Adds a tool result, which follows its call. */
const given = (before: ResponsesState, told: JsonObject): Step => {
  const [state, closed] = close(before)
  const item = {
    status: "completed",
    ...told,
    id: itemId(outputIds.get(told.type) ?? "item", state)
  }
  return done(state, item, [...closed, added(state, item)])
}

// -------------------------------------------------------------------------------------------------------------------
// Ends
// -------------------------------------------------------------------------------------------------------------------

/** Returns the error code that tells clients how to handle a failed response. */
const errorOf = (error: ApiError): JsonObject => {
  const { code } = OpenAi.errorOf(error)
  const isTold = error.kind === "context-too-long" || error.kind === "quota" || error.kind === "rate-limit"
  return {
    code: isTold ? code : error.status === 400 ? "invalid_prompt" : "server_error",
    message: error.message
  }
}

const finish = (before: ResponsesState, part: Extract<Part, { readonly type: "finish" }>): Step => {
  const isDeclined = before.open?.type === "message" && before.open.part === "refusal"
  const incomplete =
    part.reason === "length"
      ? Dialects.Endings.incompleteWord.length
      : part.reason === "refusal" && !isDeclined
        ? Dialects.Endings.incompleteWord.refusal
        : undefined
  const status = incomplete === undefined ? "completed" : "incomplete"
  const [closed, events] = close(before, status)
  const state = { ...closed, progress: { status, finish: part, incomplete } } as const
  return [state, [...events, { type: Types[status], response: objectOf(state) }]]
}

/** Finishes a compaction response. Its only output item contains the summary; a truncated summary is not returned. */
const summarized = (state: ResponsesState, summary: string, part: Extract<Part, { readonly type: "finish" }>): Step => {
  if (part.reason === "length") return finish(state, part)
  if (part.reason === "refusal" || summary.trim() === "") {
    const error = { code: "server_error", message: "The model returned no summary. Retry the request." }
    const failed = { ...state, progress: { status: "failed", error, finish: part } } as const
    return [failed, [{ type: Types.failed, response: objectOf(failed) }]]
  }
  const item = CompactionItem.make(state.about.id, summary)
  const [ready, events] = done(state, item, [added(state, item)])
  const [ended, last] = finish(ready, part)
  return [ended, [...events, ...last]]
}

const summarize = (state: ResponsesState, summary: string, part: Part): Step => {
  if (part.type === "text") return [{ ...state, summary: summary + part.text }, []]
  if (part.type === "finish") return summarized(state, summary, part)
  return part.type === "error" ? answer(state, part) : [state, []]
}

const step = (state: ResponsesState, part: Part): Step =>
  state.summary === undefined ? answer(state, part) : summarize(state, state.summary, part)

const answer = (state: ResponsesState, part: Part): Step => {
  switch (part.type) {
    case "text":
      return say(state, "output_text", part.text, part.by)
    case "refusal":
      return say(state, "refusal", part.text, part.by)
    case "note":
      return note(state, part.text, part.by)
    case "tool-call":
      return call(state, part)
    case "given":
      return given(state, part.item)
    case "state":
      return carry(state, part.state)
    case "finish":
      return finish(state, part)
    // Open items are left open, so that an aborted stream does not look complete.
    case "error": {
      const failed = { ...state, progress: { status: "failed", error: errorOf(part.error) } } as const
      return [failed, [{ type: Types.failed, response: objectOf(failed) }]]
    }
    case "heartbeat":
      return [state, []]
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Streams and bodies
// -------------------------------------------------------------------------------------------------------------------

const isOver = ({ progress: { status } }: ResponsesState): boolean => status !== "in_progress"

/** Serializes the events that the client does not have yet, with their sequence numbers. */
const numbered = (before: ResponsesState, [state, events]: Step): Written<ResponsesState> => {
  const text = events
    .map(({ type, ...data }, at) => {
      const sequence_number = before.sequence + at
      return sequence_number <= before.after ? "" : event({ type, sequence_number, ...data }, type)
    })
    .join("")
  const end = isOver(state) && !isOver(before) ? "data: [DONE]\n\n" : ""
  return [{ ...state, sequence: before.sequence + events.length }, `${text}${end}`]
}

const start = (about: About, after: number): ResponsesState => ({
  about,
  tools: Tools.ofResponse(about),
  output: [],
  open: undefined,
  summary: CompactionItem.isTriggered(about.body.input) ? "" : undefined,
  progress: { status: "in_progress" },
  sequence: 0,
  after
})

/** Starts a stream for a client that already has the events up to `after`. */
export const beginAfter = (about: About, after: number): Written<ResponsesState> => {
  const state = start(about, after)
  const response = objectOf(state)
  const queued = ResponseObject.make(about, { status: "queued", output: [] })
  const events: ReadonlyArray<Event> =
    about.body.background === true
      ? [
          { type: Types.created, response: queued },
          { type: Types.queued, response: queued },
          { type: Types.inProgress, response }
        ]
      : [
          { type: Types.created, response },
          { type: Types.inProgress, response }
        ]
  return numbered(state, [state, events])
}

/** Starts a stream. */
export const begin = (about: About): Written<ResponsesState> => beginAfter(about, -1)

/**
 * Returns the events for a part. A heartbeat repeats the last sequence number, so that all readers of a response
 * receive the same numbers, and each of them can resume after a disconnect.
 */
export const write = (state: ResponsesState, part: Part): Written<ResponsesState> => {
  if (part.type !== "heartbeat") return numbered(state, step(state, part))
  const type = Types.inProgress
  return [state, event({ type, sequence_number: state.sequence - 1, response: objectOf(state) }, type)]
}

/** Builds the response body from the parts available. */
export const whole = (about: About, parts: ReadonlyArray<Part>): JsonObject =>
  objectOf(parts.reduce<ResponsesState>((state, part) => step(state, part)[0], start(about, -1)))
