/**
 * Data that Google expects back with a turn that called functions: the signatures of its thoughts, each with its part.
 * A signature is valid for the model that issued it.
 */
import { defined } from "@divisi/core/Fields"
import * as Json from "../../VendorJson.ts"

/** Signatures of a turn: of its text, and of its calls by their ids. */
export interface Signatures {
  readonly text?: string | undefined
  readonly calls: ReadonlyMap<string, string>
}

const none: Signatures = { calls: new Map() }

/** Returns signatures as JSON, for `AssistantMessage.echo`; `undefined` without signatures. */
export const write = ({ calls, text }: Signatures, model: string): unknown =>
  text === undefined && calls.size === 0
    ? undefined
    : defined({ vendor: "google", model, text, calls: Object.fromEntries(calls) })

/** The signatures in an echo; none in another vendor's, or in another model's. */
export const read = (echo: unknown, model: string): Signatures => {
  const { calls, model: signer, text, vendor } = Json.fields(echo)
  if (vendor !== "google" || signer !== model) return none
  const entries = Object.entries(Json.fields(calls)).flatMap(([id, signature]) =>
    typeof signature === "string" ? [[id, signature] as const] : []
  )
  return { text: Json.text(text), calls: new Map(entries) }
}
