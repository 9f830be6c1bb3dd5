/** Policies that ask one worker, chosen by who was right on questions like this one. */
export * as Drift from "./Drift.ts"
export * as Learned from "./Learned.ts"
export * as OutcomeLog from "./OutcomeLog.ts"
export * as Outcomes from "./Outcomes.ts"
export * as Prior from "./Prior.ts"
export * as Replay from "./Replay.ts"
export * as Router from "./Router.ts"
export * as Table from "./Table.ts"
