/**
 * The frameworks to compare. Each has a separate file, is loaded only in the processes that measure it, and does the
 * same work in the way shown in its own documentation.
 */
import type { Mapping, Panel } from "./Programs.ts"
import type { RowId } from "./Row.ts"
import type { Workload } from "./Workload.ts"

/** A contender that has been set up and can run any number of times. */
export interface Prepared {
  readonly run: () => Promise<string>
}

export interface Contender {
  readonly name: string
  /** Does the one-time setup of a program: compiles the graph and creates the workers. */
  readonly prepare: (workload: Workload) => Promise<Prepared>
  /** Like `prepare`, with tracing and an in-memory record of the run, if the contender supports this. */
  readonly prepareRecorded?: ((workload: Workload) => Promise<Prepared>) | undefined
  /**
   * Like `prepare`, with a record on disk from which a run can be resumed after a crash, if the contender supports
   * this. Fails with `Unavailable` if something required is missing on this machine.
   */
  readonly prepareDurable?: ((workload: Workload) => Promise<Prepared>) | undefined
  /** Like `prepare`, with a size-limited store for finished runs, if the contender supports this. */
  readonly prepareStored?: ((workload: Workload) => Promise<Prepared>) | undefined
  /** Prepares a list of items with several stages per item, if the contender supports this. */
  readonly prepareMapping?: ((mapping: Mapping) => Promise<Prepared>) | undefined
  /** Prepares a panel of experts with a judge. A contender without quorums waits for all experts. */
  readonly preparePanel?: ((panel: Panel) => Promise<Prepared>) | undefined
}

/** A contender's display name, the module that it is loaded from, and the packages whose versions are recorded. */
export interface Entry {
  readonly title: string
  readonly packages: ReadonlyArray<string>
  /** The rows in which it is measured. Default: all. */
  readonly rows?: ReadonlyArray<RowId> | undefined
  /** Rows that are skipped because each sample would take minutes. */
  readonly without?: ReadonlyArray<RowId> | undefined
  readonly load: () => Promise<{ readonly contender: Contender }>
}

/** All contenders. Divisi comes last. */
export const contenders = {
  promises: { title: "plain Promises", packages: [], load: () => import("./contenders/Promises.ts") },
  effect: { title: "bare Effect", packages: ["effect"], load: () => import("./contenders/BareEffect.ts") },
  aiSdk: { title: "AI SDK", packages: ["ai"], load: () => import("./contenders/AiSdk.ts") },
  mastra: { title: "Mastra", packages: ["@mastra/core"], load: () => import("./contenders/Mastra.ts") },
  langGraph: {
    title: "LangGraph",
    packages: ["@langchain/langgraph", "@langchain/core", "@langchain/langgraph-checkpoint-sqlite"],
    without: ["wideMap"],
    load: () => import("./contenders/LangGraph.ts")
  },
  dbos: {
    title: "DBOS",
    packages: ["@dbos-inc/dbos-sdk"],
    rows: ["durable", "durableConcurrent"],
    load: () => import("./contenders/Dbos.ts")
  },
  divisiPostgres: {
    title: "Divisi, Postgres",
    packages: ["@divisi/cluster", "effect"],
    rows: ["durable", "durableConcurrent"],
    load: () => import("./contenders/DivisiPostgres.ts")
  },
  divisiEffect: {
    title: "Divisi, Effect",
    packages: ["@divisi/core", "effect"],
    load: () => import("./contenders/DivisiEffect.ts")
  },
  divisi: { title: "Divisi", packages: ["@divisi/core", "effect"], load: () => import("./contenders/Divisi.ts") }
} satisfies Record<string, Entry>

export type ContenderId = keyof typeof contenders

export const contenderIds = Object.keys(contenders) as ReadonlyArray<ContenderId>

/** Loads a contender. Nothing of it is imported before. */
export const load = async (id: ContenderId): Promise<Contender> => (await contenders[id].load()).contender
