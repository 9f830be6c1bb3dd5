/**
 * A server with a Conductor of three workers: two work in parallel, and the third sees both results, calls the tools
 * and answers.
 */
import { Journal } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import type { Pricing } from "@divisi/core/Usage"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { NodeServer, type RequestLog } from "@divisi/server"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as RuleWorker from "./RuleWorker.ts"

const threeWorkers = Policy.fixed("three workers", () => ({
  steps: [
    { worker: 0, subtask: "", access: [] },
    { worker: 1, subtask: "", access: [] },
    { worker: 2, subtask: "", access: "all" }
  ]
}))

const ids = ["reader", "checker", "writer"]

/** The settings that differ between checks. */
export interface Options {
  readonly port?: number | undefined
  /**
   * Whether its journal removes all runs after each request, so that they exist only in the histories of their clients.
   */
  readonly forgets?: boolean | undefined
  readonly log?: RequestLog.Log | undefined
  /** Keeps runs; memory by default. */
  readonly journal?: Journal.Journal | undefined
  /** The policy of the server. By default, it uses all three workers. */
  readonly policy?: Policy.Policy | undefined
  /** Other names of models. */
  readonly aliases?: Readonly<Record<string, string>> | undefined
  /** By the ids of the workers. */
  readonly prices?: Readonly<Record<string, Pricing>> | undefined
}

/** Serves until the scope closes. */
export const make = ({
  aliases,
  forgets = false,
  log,
  policy = threeWorkers,
  port = 0,
  prices = {},
  ...options
}: Options = {}): Effect.Effect<NodeServer.NodeServer, NodeServer.ListenError, Scope.Scope> => {
  const journal = forgets ? Journal.makeMemory() : options.journal
  const forget =
    forgets &&
    journal &&
    Effect.flatMap(journal.list(), (runs) => Effect.ignore(journal.remove(runs.map(({ run }) => run))))
  return NodeServer.make({
    port,
    journal,
    log: (entry) => {
      log?.(entry)
      if (forget) Effect.runSync(forget)
    },
    policy,
    aliases,
    pool: WorkerPool.makeUnsafe(ids.map((id) => RuleWorker.make(id, prices[id])))
  })
}
