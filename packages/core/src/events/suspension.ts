/** The event `step-waiting`: a step is suspended until the caller provides tool results. */
import type { Attributes } from "./Attributes.ts"
import { aboutStep } from "./EventText.ts"
import type { OpenStep } from "./OpenRecord.ts"
import type { Item, WaitingCall } from "./RunEvent.ts"

/** Emitted when a step needs the results or the approval of tool calls. All other steps continue. */
export interface StepWaiting {
  readonly type: "step-waiting"
  readonly round: number
  readonly step: number
  readonly item?: Item
  readonly worker: string
  readonly calls: ReadonlyArray<WaitingCall>
}

export const fold = (step: OpenStep, { calls }: StepWaiting): void => {
  step.state = "suspended"
  step.waitingFor = calls
}

/** Sets the attributes on the step's span. */
export const describe = (span: Attributes, { calls }: StepWaiting): void =>
  span.attribute(
    "divisi.waits_for",
    calls.map(({ call }) => call.name)
  )

export const line = (event: StepWaiting): string => {
  const calls = event.calls.map(
    ({ call, for: kind }) => `${kind === "approval" ? "approval" : "the result"} of ${call.name}`
  )
  return aboutStep(event, `${event.worker} is waiting for ${calls.join(", ")}.`)
}
