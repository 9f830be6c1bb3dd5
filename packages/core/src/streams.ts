/** The parts of core that load Effect's streams, which a plain run does not need. */

export * as JournalStream from "./journal/JournalStream.ts"
export * as RunStream from "./run/RunStream.ts"
export * as WorkerStream from "./task/WorkerStream.ts"
