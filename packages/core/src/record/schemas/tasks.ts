/** The schemas of tasks and workflows. */
import * as Schema from "effect/Schema"
import type * as TaskModels from "../../task/Task.ts"
import type * as WorkflowModels from "../../workflow/Workflow.ts"
import { schemaOf } from "./schemaOf.ts"

/** A turn of a conversation. */
export const Message = schemaOf<TaskModels.Message>()(
  Schema.Struct({ role: Schema.Literals(["system", "user", "assistant"]), content: Schema.String })
)

/** A task. Its metadata is whatever JSON holds. */
export const Task = schemaOf<TaskModels.Task>()(
  Schema.Struct({
    id: Schema.String,
    messages: Schema.NonEmptyArray(Message),
    reference: Schema.optionalKey(Schema.String),
    metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
  })
)

/** An access list: `"all"` or indices. */
export const Access = schemaOf<WorkflowModels.Access>()(Schema.Union([Schema.Literal("all"), Schema.Array(Schema.Int)]))

/** A step of a workflow. */
export const Step = schemaOf<WorkflowModels.Step>()(
  Schema.Struct({ worker: Schema.Int, subtask: Schema.String, access: Access })
)

/** A workflow, by its form alone: `Workflow.check` holds it to its rules. */
export const Workflow = schemaOf<WorkflowModels.Workflow>()(
  Schema.Struct({ steps: Schema.Array(Step), answer: Schema.optionalKey(Schema.Literal("majority")) })
)
