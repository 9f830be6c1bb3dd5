/** Runs on many machines: submitted by id, assigned by Effect's cluster, and stored in a Postgres database. */
export * as ClusterRuns from "./runs/ClusterRuns.ts"
