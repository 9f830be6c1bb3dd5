/** Runs, accounts, rate limits and records in a Postgres database shared by several servers. */
export * as Operations from "./Operations.ts"
export * as Postgres from "./Postgres.ts"
export * as PostgresAccounts from "./PostgresAccounts.ts"
export * as PostgresJournal from "./PostgresJournal.ts"
export * as PostgresPaces from "./PostgresPaces.ts"
export * as PostgresRateLimits from "./PostgresRateLimits.ts"
export * as PostgresRecords from "./PostgresRecords.ts"
export * as PostgresTasks from "./PostgresTasks.ts"
