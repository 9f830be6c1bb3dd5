/** The contracts of journals and of accounts, and a Postgres server for their implementations. */
export * as AccountsContract from "./journals/AccountsContract.ts"
export * as JournalContract from "./journals/JournalContract.ts"
export * as PostgresServer from "./journals/PostgresServer.ts"
