/**
 * Data that Google expects back with a turn that called functions: the thought signature of each part. A signature is
 * valid only for the model that issued it.
 */
import { defined } from "@divisi/core/Fields"
import * as Json from "../../VendorJson.ts"

/** The signatures of a turn: one for its text, and those of its calls by call id. */
export interface Signatures {
  readonly text?: string | undefined
  readonly calls: ReadonlyMap<string, string>
}

const none: Signatures = { calls: new Map() }

/** Serializes signatures to JSON for `AssistantMessage.echo`; `undefined` if there are none. */
export const write = ({ calls, text }: Signatures, model: string): unknown =>
  text === undefined && calls.size === 0
    ? undefined
    : defined({ vendor: "google", model, text, calls: Object.fromEntries(calls) })

/** Reads the signatures in an echo; empty if another vendor or model issued it. */
export const read = (echo: unknown, model: string): Signatures => {
  const { calls, model: signer, text, vendor } = Json.fields(echo)
  if (vendor !== "google" || signer !== model) return none
  const entries = Object.entries(Json.fields(calls)).flatMap(([id, signature]) =>
    typeof signature === "string" ? [[id, signature] as const] : []
  )
  return { text: Json.text(text), calls: new Map(entries) }
}
