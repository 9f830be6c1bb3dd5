/** The distributed engine, based on a client for the Tinker API. */
export * as Dialect from "./Dialect.ts"
export * as HuggingFaceTokenizer from "./HuggingFaceTokenizer.ts"
export * as Protocol from "./Protocol.ts"
export * as TinkerClient from "./TinkerClient.ts"
export * as TinkerEngine from "./TinkerEngine.ts"
export { TinkerError, type TinkerErrorReason } from "./TinkerError.ts"
