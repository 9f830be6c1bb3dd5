/** A server in front of a Conductor with three workers: two look, a third sees both, calls the tools and answers. */
import type * as Journal from "@divisi/core/Journal"
import * as Policy from "@divisi/core/Policy"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { NodeServer, type RequestLog } from "@divisi/server"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as RuleWorker from "./RuleWorker.ts"

const policy = Policy.fixed("three workers", () => ({
  steps: [
    { worker: 0, subtask: "", access: [] },
    { worker: 1, subtask: "", access: [] },
    { worker: 2, subtask: "", access: "all" }
  ]
}))

/** What differs from check to check. */
export interface Options {
  readonly port?: number | undefined
  readonly journal?: Journal.Journal | undefined
  readonly log?: RequestLog.Log | undefined
}

/** Serves until the scope closes. */
export const make = (
  options: Options = {}
): Effect.Effect<NodeServer.NodeServer, NodeServer.ListenError, Scope.Scope> =>
  NodeServer.make({
    port: 0,
    ...options,
    policy,
    pool: WorkerPool.makeUnsafe(["reader", "checker", "writer"].map(RuleWorker.make))
  })
