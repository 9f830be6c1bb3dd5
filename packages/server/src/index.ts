/** One endpoint in front of a Conductor: OpenAI's and Anthropic's wires, for any client. */
export * as Caller from "./Caller.ts"
export * as Ratings from "./http/Ratings.ts"
export * as Keys from "./Keys.ts"
export * as Models from "./Models.ts"
export * as NodeServer from "./NodeServer.ts"
export * as RequestLog from "./RequestLog.ts"
export * as Server from "./Server.ts"
export * as ApiError from "./wire/ApiError.ts"
