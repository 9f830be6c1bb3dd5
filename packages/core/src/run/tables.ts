/**
 * Accepted values for run settings. The tables are used by `Options.check`, and the `RunSettings` schema is derived
 * from them.
 */
import { isRecord } from "../Fields.ts"
import * as Options from "../Options.ts"
import { checksRow } from "../task/Check.ts"
import type { Shapes } from "../task/Shape.ts"
import { isName, type JsonFormat, type NamedShape, nameRule, type Output, type Tool } from "../task/Tool.ts"
import { reasoningTable } from "../task/Worker.ts"
import type { Limits } from "./Limits.ts"
import type { Retry } from "./Resilience.ts"
import type { RunSettings, WorkerSettings } from "./RunSettings.ts"

/** Accepted values for spending limits. */
export const limitsTable = {
  costUsd: Options.limit,
  tokens: Options.limit,
  calls: Options.limit,
  durationMillis: Options.limit
} satisfies Options.ShapeOf<Limits>

export const workerTable = {
  maxOutputTokens: Options.whole(1),
  temperature: Options.temperature,
  reasoning: reasoningTable,
  preferences: Options.oneOf("require", "omit"),
  timeoutMillis: Options.limit,
  silenceMillis: Options.number(0)
} satisfies Options.ShapeOf<WorkerSettings>

export const retryTable = {
  maxAttempts: Options.whole(1),
  baseDelayMillis: Options.limit,
  factor: Options.number(1),
  maxDelayMillis: Options.limit,
  maxRetryAfterMillis: Options.limit,
  jitter: Options.flag
} satisfies Options.ShapeOf<Retry>

export const isTool = (value: unknown): value is Tool =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as { name?: unknown }).name === "string" &&
  "input" in value

const isShape = (value: unknown): boolean => typeof value === "function" || isRecord(value)

const isShapes = (value: unknown): value is Shapes =>
  isRecord(value) && Object.entries(value).every(([name, shape]) => isName(name) && isShape(shape))

/** An output format that is not given as a schema. */
export type Format = NamedShape | JsonFormat | { readonly type: "text" }

/**
 * Whether an output is a format rather than a schema. Schemas of the supported libraries are recognized by their
 * properties.
 */
export const isFormat = (output: Output): output is Format => {
  const isSchema = typeof output === "function" || "~standard" in output || "ast" in output
  return !isSchema && ["text", "json", "json-schema"].includes(output.type as string)
}

/** The string values of `reassign`, which may also be a function. */
export const reassignWords = Options.oneOf("never", "next")

/** Accepted values for run settings. To embed them in another table, spread them: `{ ...settingsTable, … }`. */
export const settingsTable = {
  maxSteps: Options.whole(1),
  maxItems: Options.whole(0),
  itemsAtOnce: Options.whole(1),
  recursion: Options.countOrInfinity,
  self: { maxDepth: Options.whole(0) },
  budget: { ...limitsTable, keep: Options.oneOf("answer"), admit: Options.oneOf("plan") },
  worker: workerTable,
  retry: retryTable,
  reassign: Options.either(reassignWords, Options.aFunction),
  onUnconfirmedCall: Options.oneOf("again", "fail", "reassign"),
  onStepFailure: Options.oneOf("report", "end"),
  onAuthenticationFailure: Options.oneOf("report", "end"),
  skipUnseen: Options.flag,
  critic: Options.madeBy("a critic", "score"),
  threshold: Options.number(0),
  checks: checksRow,
  shapes: Options.expects(`an object of shapes, { name: schema } (names: ${nameRule})`, isShapes),
  revisions: Options.whole(0),
  approvePlans: Options.flag,
  tools: Options.listOf(Options.expects("a tool, such as tool({ name, input, execute })", isTool)),
  toolAccess: Options.oneOf("last-step", "every-step", "policy", "none"),
  maxToolRounds: Options.whole(0),
  unsupported: Options.oneOf("error", "omit"),
  seed: Options.whole(0)
} satisfies Options.ShapeOf<RunSettings>

/** Rules that reject inconsistent run settings. */
export const settingsRules: ReadonlyArray<Options.Rule> = [Options.needs("threshold", "critic", "checks", "policy")]
