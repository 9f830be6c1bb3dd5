/** Schemas for calls: finish reasons, usage, errors and grades. */
import * as Schema from "effect/Schema"
import type * as GraderModels from "../../task/Grader.ts"
import type * as UsageModels from "../../task/Usage.ts"
import type * as WorkerModels from "../../task/Worker.ts"
import { NumberOrUndefined, oneOf, schemaOf } from "./schemaOf.ts"

/** Schema for why a worker stopped generating. */
export const FinishReason = schemaOf<WorkerModels.FinishReason>()(
  Schema.Literals(["stop", "length", "refusal", "tool-calls", "other"])
)

/** Schema for token usage. */
export const Usage = schemaOf<UsageModels.Usage>()(
  Schema.Struct({
    inputTokens: Schema.Finite,
    outputTokens: Schema.Finite,
    cachedInputTokens: Schema.optionalKey(Schema.Finite),
    cacheWriteTokens: Schema.optionalKey(Schema.Finite),
    reasoningTokens: Schema.optionalKey(Schema.Finite),
    estimated: Schema.optionalKey(Schema.Boolean),
    misreported: Schema.optionalKey(Schema.String)
  })
)

const detail = { detail: Schema.optionalKey(Schema.String) }

const remedied = { ...detail, remedy: Schema.optionalKey(Schema.String) }

const retryAfter = { retryAfterMillis: Schema.optionalKey(Schema.Finite), ...detail }

const reason = <Tag extends string, Fields extends Schema.Struct.Fields>(tag: Tag, fields: Fields) =>
  Schema.Struct({ _tag: Schema.Literal(tag), ...fields })

const reasons = [
  reason("RateLimited", retryAfter),
  reason("Overloaded", retryAfter),
  reason("Timeout", {
    afterMillis: Schema.optionalKey(Schema.Finite),
    silentMillis: Schema.optionalKey(Schema.Finite),
    ...remedied
  }),
  reason("Network", remedied),
  reason("Malformed", remedied),
  reason("InvalidRequest", remedied),
  reason("Authentication", remedied),
  reason("Quota", detail),
  reason("ContentFiltered", detail),
  reason("ContextTooLong", {
    contextTokens: Schema.optionalKey(Schema.Finite),
    neededTokens: Schema.optionalKey(Schema.Finite),
    ...detail
  }),
  reason("Defect", remedied)
] as const

/** Schema for the class of a worker error. */
export const WorkerErrorTag = schemaOf<WorkerModels.WorkerErrorReason["_tag"]>()(
  Schema.Literals(reasons.map(({ fields }) => fields._tag.literal))
)

/** Schema for why a call failed. */
export const WorkerErrorReason = schemaOf<WorkerModels.WorkerErrorReason>()(
  Schema.Union(reasons).annotate({
    message: oneOf(
      "_tag",
      reasons.map(({ fields }) => fields._tag.literal)
    )
  })
)

/** Schema for total spending. */
export const Spend = schemaOf<UsageModels.Spend>()(
  Schema.Struct({ usage: Usage, costUsd: Schema.Finite, calls: Schema.Finite, unpricedCalls: Schema.Finite })
)

/** Field for where an answer is from if no worker was called for it. */
export const origin = { origin: Schema.optionalKey(Schema.Literals(["caller", "forked-run", "nested-run"])) }

/** Fields for how an answer was obtained. */
export const answerSource = { cached: Schema.Boolean, ...origin }

/** Fields for the usage and cost of a call. */
export const paid = { usage: Usage, costUsd: NumberOrUndefined }

/** Schema for the usage and cost of a call. */
export const Paid = schemaOf<UsageModels.Paid>()(Schema.Struct(paid))

/** Schema for the verdict on an answer. */
export const Grade = schemaOf<GraderModels.Grade>()(
  Schema.Struct({ correct: Schema.Boolean, score: Schema.Finite, explanation: Schema.optionalKey(Schema.String) })
)

/** Fields for a call attempt without an answer. */
export const attempt = {
  chargeId: Schema.optionalKey(Schema.String),
  isRetired: Schema.optionalKey(Schema.Literal(true))
}
