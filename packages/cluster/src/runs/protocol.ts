/** The messages about runs that servers exchange. */
import * as ClusterSchema from "effect/cluster/ClusterSchema"
import * as Entity from "effect/cluster/Entity"
import * as Rpc from "effect/rpc/Rpc"
import * as Schema from "effect/Schema"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"

/** The result of a run. The answer is also stored in the journal. */
export class Ended extends Schema.Class<Ended>("@divisi/cluster/Ended")({
  ending: Schema.String,
  answer: Schema.optionalKey(Schema.String),
  detail: Schema.optionalKey(Schema.String),
  /** `Abandoned`: too many servers in a row died or froze while executing the run. */
  reason: Schema.optionalKey(Schema.String)
}) {}

/** A run as a workflow with the same id. `task` is JSON, and `startAt` the earliest start by the database's clock. */
export const Run = Workflow.make("divisi/Run", {
  payload: { id: Schema.String, task: Schema.String, startAt: Schema.optionalKey(Schema.Finite) },
  success: Ended,
  idempotencyKey: ({ id }) => id
})

/** Returns the execution id by which the cluster assigns the run to a server. */
export const executionOf = (id: string) => Run.executionId({ id, task: "" })

/** The result of a pending tool call, as JSON. */
export const resultOf = (call: string) => DurableDeferred.make(`result/${call}`, { success: Schema.String })

/** A journal entry with its sequence number, or a chunk of an answer without one, as JSON. */
export class Item extends Schema.Class<Item>("@divisi/cluster/Item")({
  seq: Schema.optionalKey(Schema.Finite),
  body: Schema.String
}) {}

/** An entity with the same id as the workflow, so that it is on the server that executes the run. */
export const Feed = Entity.make("divisi/Feed", [
  Rpc.make("attach", {
    payload: { id: Schema.String, from: Schema.Finite },
    success: Item,
    error: Schema.String,
    stream: true
    // Without this annotation, a server that is stopping would wait for readers of its runs.
  }).annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("cancel", { payload: { id: Schema.String } })
])
