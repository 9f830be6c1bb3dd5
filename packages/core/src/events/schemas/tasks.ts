/** Schemas for tasks and workflows. */
import * as Schema from "effect/Schema"
import type * as MessageModels from "../../task/Message.ts"
import type * as TaskModels from "../../task/Task.ts"
import type * as WorkerModels from "../../task/Worker.ts"
import type * as WorkflowModels from "../../workflow/Workflow.ts"
import { oneOf, schemaOf } from "./schemaOf.ts"

const inline = { data: Schema.String, mediaType: Schema.String }

const linked = { url: Schema.String, mediaType: Schema.optionalKey(Schema.String) }

const image = { type: Schema.Literal("image") }

const file = { type: Schema.Literal("file"), name: Schema.optionalKey(Schema.String) }

/** Schema for a part of a message's content. */
export const ContentPart = schemaOf<MessageModels.ContentPart>()(
  Schema.Union([
    Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
    Schema.Struct({ ...image, ...inline }),
    Schema.Struct({ ...image, ...linked }),
    Schema.Struct({ ...file, ...inline }),
    Schema.Struct({ ...file, ...linked })
  ]).annotate({ message: oneOf("type", ["text", "image", "file"]) })
)

/** Schema for message content. */
export const Content = schemaOf<MessageModels.Content>()(
  Schema.Union([Schema.String, Schema.NonEmptyArray(ContentPart)])
)

/** Schema for a tool call. */
export const ToolCall = schemaOf<MessageModels.ToolCall>()(
  Schema.Struct({ id: Schema.String, name: Schema.String, arguments: Schema.String })
)

/** Schema for a message. */
export const Message = schemaOf<MessageModels.Message>()(
  Schema.Union([
    Schema.Struct({ role: Schema.Literal("system"), content: Schema.String }),
    Schema.Struct({ role: Schema.Literal("developer"), content: Schema.String }),
    Schema.Struct({ role: Schema.Literal("user"), content: Content }),
    Schema.Struct({
      role: Schema.Literal("assistant"),
      content: Schema.String,
      toolCalls: Schema.optionalKey(Schema.Array(ToolCall)),
      echo: Schema.optionalKey(Schema.Unknown)
    }),
    Schema.Struct({
      role: Schema.Literal("tool"),
      callId: Schema.String,
      name: Schema.String,
      content: Content,
      isError: Schema.optionalKey(Schema.Boolean)
    })
  ]).annotate({ message: oneOf("role", ["system", "developer", "user", "assistant", "tool"]) })
)

/** Schema for a task. `metadata` may contain any JSON. */
export const Task = schemaOf<TaskModels.Task>()(
  Schema.Struct({
    id: Schema.String,
    messages: Schema.NonEmptyArray(Message),
    reference: Schema.optionalKey(Schema.String),
    metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
  })
)

/** Schema for an access list: `"all"` or a list of indices. */
export const Access = schemaOf<WorkflowModels.Access>()(Schema.Union([Schema.Literal("all"), Schema.Array(Schema.Int)]))

/** Schema for a reference to a step in an earlier round. */
export const EarlierStep = schemaOf<WorkflowModels.EarlierStep>()(
  Schema.Struct({ round: Schema.Int, step: Schema.Int })
)

/** Schema for a step's check. */
export const StepCheck = schemaOf<WorkflowModels.StepCheck>()(
  Schema.Struct({
    by: Schema.Union([Schema.String, Schema.Int]),
    onFailure: Schema.Literals(["revise", "next", "continue", "again"]),
    times: Schema.optionalKey(Schema.Int)
  })
)

/** Schema for the required format of a step's answer. */
export const Gives = schemaOf<WorkflowModels.Gives>()(
  Schema.Union([Schema.Struct({ list: Schema.Int }), Schema.Struct({ shape: Schema.String })])
)

/** Schema for a step's condition. */
export const When = schemaOf<WorkflowModels.When>()(Schema.Struct({ failed: Schema.Int }))

/** Schema for a step's quorum. */
export const Enough = schemaOf<WorkflowModels.Enough>()(
  Schema.Struct({ answers: Schema.Int, graceMillis: Schema.optionalKey(Schema.Finite) })
)

/** Schema for a worker's reasoning settings. */
export const Reasoning = schemaOf<WorkerModels.Reasoning>()(
  Schema.Union([
    Schema.Struct({ type: Schema.Literal("effort"), effort: Schema.Literals(["minimal", "low", "medium", "high"]) }),
    Schema.Struct({ type: Schema.Literal("budget"), tokens: Schema.Int }),
    Schema.Struct({ type: Schema.Literal("off") })
  ])
)

/** Schema for a step's call settings. */
export const StepSettings = schemaOf<WorkflowModels.StepSettings>()(
  Schema.Struct({
    reasoning: Schema.optionalKey(Reasoning),
    maxOutputTokens: Schema.optionalKey(Schema.Int),
    temperature: Schema.optionalKey(Schema.Finite),
    timeoutMillis: Schema.optionalKey(Schema.Finite)
  })
)

/** Schema for a step. */
export const Step = schemaOf<WorkflowModels.Step>()(
  Schema.Struct({
    worker: Schema.Int,
    subtask: Schema.String,
    access: Access,
    earlier: Schema.optionalKey(Schema.Array(EarlierStep)),
    check: Schema.optionalKey(StepCheck),
    tools: Schema.optionalKey(Schema.Union([Schema.Boolean, Schema.Array(Schema.String)])),
    gives: Schema.optionalKey(Gives),
    each: Schema.optionalKey(Schema.Int),
    when: Schema.optionalKey(When),
    enough: Schema.optionalKey(Enough),
    settings: Schema.optionalKey(StepSettings)
  })
)

/** Schema for the structure of a workflow. Use `Workflow.check` to validate its rules. */
export const Workflow = schemaOf<WorkflowModels.Workflow>()(
  Schema.Struct({ steps: Schema.Array(Step), answer: Schema.optionalKey(Schema.Literal("majority")) })
)
