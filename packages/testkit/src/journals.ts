/** Contracts for journals and accounts, and a Postgres server for testing their implementations. */
export * as AccountsContract from "./journals/AccountsContract.ts"
export * as JournalContract from "./journals/JournalContract.ts"
export * as PostgresServer from "./journals/PostgresServer.ts"
