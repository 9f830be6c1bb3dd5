/** The event `step-reassigned`: another worker takes over a step. */
import { defined } from "../Fields.ts"
import type { WorkerErrorReason } from "../task/Worker.ts"
import type { Attributes } from "./Attributes.ts"
import { aboutStep } from "./EventText.ts"
import { discardText, type OpenStep, resume } from "./OpenRecord.ts"
import type { Item, Stamped } from "./RunEvent.ts"

/** Emitted when another worker takes over a step. Text streamed before this event must be discarded. */
export interface StepReassigned {
  readonly type: "step-reassigned"
  readonly round: number
  readonly step: number
  readonly item?: Item
  readonly from: string
  readonly to: string
  /** Class of the worker's error. Undefined if its answer failed a check. */
  readonly reason?: WorkerErrorReason["_tag"]
  readonly message?: string
}

export const fold = (step: OpenStep, { at, from, message, reason, to }: Stamped<StepReassigned>): void => {
  resume(step)
  discardText(step)
  step.worker = to
  step.reassigned.push(defined({ from, at, reason, message }))
}

/** Sets the new worker on the step's span. */
export const describe = (span: Attributes, { to }: StepReassigned): void => span.attribute("gen_ai.agent.name", to)

/** Returns the attributes of the span event. */
export const attributesOf = ({ from, to }: StepReassigned) => ({ "divisi.from": from, "divisi.to": to })

export const line = (event: StepReassigned): string => aboutStep(event, `${event.to} takes over from ${event.from}.`)
