/** Runs on many machines: submitted by id, placed and taken over by effect's cluster, stored in one Postgres. */
export * as ClusterRuns from "./runs/ClusterRuns.ts"
