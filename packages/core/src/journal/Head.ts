/** Parses the stored heads of runs. A damaged head is listed as such and does not affect other runs. */
import { plain } from "../Thrown.ts"
import type { Head } from "./Journal.ts"

/** A parsed head. If parsing failed, `damaged` contains the reason and the fields are placeholders. */
export type ReadHead = Head & { readonly damaged?: string }

const isText = (value: unknown): value is string => typeof value === "string"
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isNumber = (value: unknown): boolean => typeof value === "number"
const isAbsentOr = (is: (value: unknown) => boolean) => (value: unknown) => value === undefined || is(value)

const fields: { readonly [Name in keyof Head]-?: (value: unknown) => boolean } = {
  question: isText,
  policy: isText,
  workers: isTexts,
  startedAt: isNumber,
  ending: isAbsentOr(isText),
  costUsd: isNumber,
  isPlay: isAbsentOr((value) => value === true),
  isUnpriced: isAbsentOr((value) => value === true),
  calls: isNumber,
  waitsFor: isAbsentOr(isTexts),
  caller: isAbsentOr(isText),
  request: isAbsentOr(isText),
  forkOf: isAbsentOr(isText)
}

const placeholder: Head = { question: "", policy: "", workers: [], startedAt: 0, costUsd: 0, calls: 0 }

const damagedBy = (detail: string): ReadHead => ({ ...placeholder, damaged: plain(detail).slice(0, 200) })

/** Parses a head from JSON. */
export const read = (text: unknown): ReadHead => {
  let head: unknown
  try {
    head = JSON.parse(String(text))
  } catch {
    return damagedBy("its header is not JSON")
  }
  if (typeof head !== "object" || head === null || Array.isArray(head)) return damagedBy("its header is not an object")
  const known = head as Readonly<Record<string, unknown>>
  const wrong = Object.entries(fields).find(([name, is]) => !is(known[name]))
  return wrong === undefined ? (head as Head) : damagedBy(`the field "${wrong[0]}" of its header cannot be read`)
}
