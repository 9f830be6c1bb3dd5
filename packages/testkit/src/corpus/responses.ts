/** Rows of responses: what servers that speak it were seen to answer. */
import type { Row } from "./Row.ts"

export const responses: ReadonlyArray<Row> = []
