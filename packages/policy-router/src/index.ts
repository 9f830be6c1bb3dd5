/** A policy that asks one worker, chosen by who was right on questions like this one. */
export * as Outcomes from "./Outcomes.ts"
export * as Router from "./Router.ts"
export * as Table from "./Table.ts"
