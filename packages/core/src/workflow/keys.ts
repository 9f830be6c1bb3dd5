/**
 * Validates the keys of workflows. Plans written in code are plain objects, so a misspelt key is rejected with a
 * suggestion instead of being silently ignored.
 */
import { isRecord } from "../Fields.ts"
import { aliasOf, nearest } from "../Nearest.ts"
import { settingsTable } from "./program.ts"
import type { EarlierStep, Enough, Gives, Step, StepCheck, StepSettings, When, Workflow } from "./Workflow.ts"

/** A table of an interface's keys, checked for completeness by the compiler. */
export type KeysOf<A> = { readonly [Key in A extends unknown ? keyof A : never]-?: true }

/** Describes an unknown key. */
export interface UnknownKey {
  /** The object that contains the key, e.g. `step 0`. */
  readonly of: string
  readonly key: string
  /** Suggests the closest valid key, or lists all of them. */
  readonly hint: string
}

const workflowKeys: KeysOf<Workflow> = { steps: true, answer: true }

const stepKeys: KeysOf<Step> = {
  worker: true,
  subtask: true,
  access: true,
  earlier: true,
  check: true,
  tools: true,
  gives: true,
  each: true,
  when: true,
  enough: true,
  settings: true
}

const checkKeys: KeysOf<StepCheck> = { by: true, onFailure: true, times: true }
const earlierKeys: KeysOf<EarlierStep> = { round: true, step: true }
const givesKeys: KeysOf<Gives> = { list: true, shape: true }
const whenKeys: KeysOf<When> = { failed: true }
const enoughKeys: KeysOf<Enough> = { answers: true, graceMillis: true }
const reasoningKeys: KeysOf<NonNullable<StepSettings["reasoning"]>> = { type: true, effort: true, tokens: true }

/** Names used by other libraries, mapped to the names used here. */
const called: Readonly<Record<string, string>> = {
  model: "worker",
  agent: "worker",
  prompt: "subtask",
  instruction: "subtask",
  dependsOn: "access",
  forEach: "each",
  map: "each",
  output: "gives",
  condition: "when",
  quorum: "enough",
  maxTokens: "maxOutputTokens",
  timeout: "timeoutMillis",
  effort: "reasoning"
}

const meantBy = (key: string, known: ReadonlyArray<string>): string | undefined => {
  const close = nearest(key, known)
  const meant = aliasOf(key, called, close)
  return meant !== undefined && known.includes(meant) ? meant : close
}

/** Returns the first unknown key in an object, or `undefined`. Keys whose value is `undefined` are ignored. */
export const unknownKeyIn = (of: string, value: unknown, keys: object): UnknownKey | undefined => {
  if (!isRecord(value)) return undefined
  for (const key in value) {
    if (Object.hasOwn(keys, key) || (value as Readonly<Record<string, unknown>>)[key] === undefined) continue
    // Inherited keys are ignored, because a step may be a class instance.
    if (!Object.hasOwn(value, key)) continue
    const known = Object.keys(keys)
    const meant = meantBy(key, known)
    const shown = key.length > 40 ? `${key.slice(0, 40)}…` : key
    return {
      of,
      key: shown,
      hint: meant === undefined ? `its keys are ${known.join(", ")}` : `did you mean "${meant}"?`
    }
  }
  return undefined
}

/** Whether a step uses only the paper's three fields. */
const isPlain = (step: Step): boolean => {
  for (const key in step) if (key !== "worker" && key !== "subtask" && key !== "access") return false
  return true
}

const unknownKeyOfStep = (step: Step, index: number): UnknownKey | undefined => {
  if (isPlain(step)) return undefined
  const { check, earlier, enough, gives, settings, when } = step
  const of = `step ${index}`
  const own = unknownKeyIn(of, step, stepKeys)
  if (own !== undefined) return own
  return (
    (check && unknownKeyIn(`the check of ${of}`, check, checkKeys)) ??
    (gives && unknownKeyIn(`the gives of ${of}`, gives, givesKeys)) ??
    (when && unknownKeyIn(`the when of ${of}`, when, whenKeys)) ??
    (enough && unknownKeyIn(`the enough of ${of}`, enough, enoughKeys)) ??
    (settings && unknownKeyIn(`the settings of ${of}`, settings, settingsTable)) ??
    (settings && unknownKeyIn(`the reasoning of ${of}`, settings.reasoning, reasoningKeys)) ??
    (Array.isArray(earlier)
      ? earlier
          .map((one) => unknownKeyIn(`the earlier of ${of}`, one, earlierKeys))
          .find((unknown) => unknown !== undefined)
      : undefined)
  )
}

/** Returns the first unknown key in a workflow, including its steps and their nested objects. */
export const unknownKeyOf = (workflow: unknown): UnknownKey | undefined => {
  const own = unknownKeyIn("the workflow", workflow, workflowKeys)
  if (own !== undefined) return own
  const steps: unknown = (workflow as Partial<Workflow> | undefined)?.steps
  if (!Array.isArray(steps)) return undefined
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index] as Step | undefined
    const unknown = isRecord(step) ? unknownKeyOfStep(step, index) : undefined
    if (unknown !== undefined) return unknown
  }
  return undefined
}

/** Describes an unknown key in a message without a final period. */
export const describe = ({ hint, key, of }: UnknownKey): string => `${of} has no "${key}"; ${hint}`
