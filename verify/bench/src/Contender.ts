/**
 * Contenders: what is measured side by side. Each stands in a file of its own, is loaded only in the processes that
 * measure it, and does the same work in the way its own documentation shows.
 */
import type { Mapping, Panel } from "./Programs.ts"
import type { RowId } from "./Row.ts"
import type { Workload } from "./Workload.ts"

/** Set up once, run any number of times. */
export interface Prepared {
  readonly run: () => Promise<string>
}

export interface Contender {
  readonly name: string
  /** Sets up what a program sets up once: compiles the graph, makes the workers. */
  readonly prepare: (workload: Workload) => Promise<Prepared>
  /** The same with tracing and a record of the run in memory, where the contender has such a thing. */
  readonly prepareRecorded?: ((workload: Workload) => Promise<Prepared>) | undefined
  /**
   * The same with a record on disk, from which a run goes on after a crash, where the contender has such a thing. Fails with
   * `Unavailable` where this machine lacks what it needs.
   */
  readonly prepareDurable?: ((workload: Workload) => Promise<Prepared>) | undefined
  /** The same with a store of finished runs that is capped, where the contender has such a thing. */
  readonly prepareStored?: ((workload: Workload) => Promise<Prepared>) | undefined
  /** A list of items with stages for each of them, where the contender has such a thing. */
  readonly prepareMapping?: ((mapping: Mapping) => Promise<Prepared>) | undefined
  /** Experts and a judge. A contender without quorums waits for all experts. */
  readonly preparePanel?: ((panel: Panel) => Promise<Prepared>) | undefined
}

/** How a contender is shown, what it is loaded from, and the packages whose versions are recorded with it. */
export interface Entry {
  readonly title: string
  readonly packages: ReadonlyArray<string>
  /** The rows that it has something to show in; all by default. */
  readonly rows?: ReadonlyArray<RowId> | undefined
  /** The rows that take it minutes for each sample. */
  readonly without?: ReadonlyArray<RowId> | undefined
  readonly load: () => Promise<{ readonly contender: Contender }>
}

/** All contenders, ours last. */
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

/** Loads a contender; only then is anything of it imported. */
export const load = async (id: ContenderId): Promise<Contender> => (await contenders[id].load()).contender
