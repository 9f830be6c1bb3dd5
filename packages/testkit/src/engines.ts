/** The contract of training engines, and a local server of the Tinker API over any engine, faults included. */
export * as EngineContract from "./engines/EngineContract.ts"
export * as LocalTinkerServer from "./engines/LocalTinkerServer.ts"
