/** The contract for training engines, and a local Tinker API server on top of any engine, with fault injection. */
export * as EngineContract from "./engines/EngineContract.ts"
export * as LocalTinkerServer from "./engines/LocalTinkerServer.ts"
