/**
 * Vendor protocols as data and pure functions: finish reasons, where errors and usage are found, and parsers that fold
 * a stream into one answer. Shared by providers and by servers that implement these protocols.
 */

export * as ChatEcho from "./chat/echo.ts"
export * as Chat from "./chat/stream.ts"
export * as Endings from "./endings.ts"
export * as Errors from "./errors.ts"
export * as Failures from "./failures.ts"
export * as Fields from "./fields.ts"
export * as GenerateContent from "./generate-content/GenerateContent.ts"
export * as Messages from "./messages/Messages.ts"
export * as Preferences from "./preferences.ts"
export * as Reasoning from "./reasoning.ts"
export * as ResponsesEcho from "./responses/echo.ts"
export * as ResponsesEvents from "./responses/events.ts"
export * as Responses from "./responses/stream.ts"
export * as Text from "./text.ts"
export * as UsageFields from "./usage.ts"
