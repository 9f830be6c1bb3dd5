/** The messages of runs between servers. */
import * as ClusterSchema from "effect/cluster/ClusterSchema"
import * as Entity from "effect/cluster/Entity"
import * as Rpc from "effect/rpc/Rpc"
import * as Schema from "effect/Schema"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"

/** The end of a run. The answer is in the journal, too. */
export class Ended extends Schema.Class<Ended>("@divisi/cluster/Ended")({
  ending: Schema.String,
  answer: Schema.optionalKey(Schema.String),
  detail: Schema.optionalKey(Schema.String),
  /** `Abandoned`: too many servers in a row died or froze while they executed the run. */
  reason: Schema.optionalKey(Schema.String)
}) {}

/** A run as a workflow: its id is that of the run, and its body the one loop. `task` is JSON. */
export const Run = Workflow.make("divisi/Run", {
  payload: { id: Schema.String, task: Schema.String },
  success: Ended,
  idempotencyKey: ({ id }) => id
})

/** The id by which the cluster places a run. */
export const executionOf = (id: string) => Run.executionId({ id, task: "" })

/** The result of a tool call that a suspended run waits for, as JSON. */
export const resultOf = (call: string) => DurableDeferred.make(`result/${call}`, { success: Schema.String })

/** An entry of the journal with its number, or a piece of an answer without one. Both are JSON. */
export class Item extends Schema.Class<Item>("@divisi/cluster/Item")({
  seq: Schema.optionalKey(Schema.Finite),
  body: Schema.String
}) {}

/** An entity with the id of the workflow is on the shard of the run, so on the server that executes it. */
export const Feed = Entity.make("divisi/Feed", [
  Rpc.make("attach", {
    payload: { id: Schema.String, from: Schema.Finite },
    success: Item,
    error: Schema.String,
    stream: true
    // Otherwise a server that stops waits for the readers of its runs.
  }).annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("cancel", { payload: { id: Schema.String } })
])
