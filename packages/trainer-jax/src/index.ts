/** The embedded engine for the trainer. */
export * as ChatTemplate from "./ChatTemplate.ts"
export * as Induction from "./Induction.ts"
export * as JaxEngine from "./JaxEngine.ts"
export * as ReaderTrainer from "./ReaderTrainer.ts"
