/** The contract of journals. */
export * as JournalContract from "./journals/JournalContract.ts"
