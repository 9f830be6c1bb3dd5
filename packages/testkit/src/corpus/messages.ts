/** Rows of messages: what servers that speak it were seen to answer. */
import type { Row } from "./Row.ts"

export const messages: ReadonlyArray<Row> = []
