/** Interprets the response to a plan that is pending approval. */
import { text as textOf } from "../task/Message.ts"
import type { Given } from "../task/Tool.ts"

/** The caller's approval or refusal. */
type Approval = Extract<Given, { readonly approved: boolean }>

/** Parses an approval from JSON, for protocols in which tool results are text. */
const approvalIn = (text: string): Approval | undefined => {
  try {
    const value = JSON.parse(text)
    if (typeof value?.approved !== "boolean") return undefined
    const { approved, reason } = value
    return typeof reason === "string" ? { approved, reason } : { approved }
  } catch {
    return undefined
  }
}

/** Interprets a response to a pending plan: an approval, or the text of a replacement plan. */
export const submitted = (given: Given): Approval | { readonly text: string } => {
  if (typeof given === "object" && "approved" in given) return given
  const text = typeof given === "string" ? given : textOf(given.content)
  return approvalIn(text) ?? { text }
}
