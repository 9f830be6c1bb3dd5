/** The public module of a step's messages. A plain run loads only `StepMessages.ts`. */
export * from "./ItemMessages.ts"
export * from "./LaterMessages.ts"
export * from "./StepMessages.ts"
