/** The modules of core that depend on Effect's streams. They are separate because a plain run does not need them. */

export * as JournalStream from "./journal/JournalStream.ts"
export * as RunStream from "./run/RunStream.ts"
export * as WorkerStream from "./task/WorkerStream.ts"
