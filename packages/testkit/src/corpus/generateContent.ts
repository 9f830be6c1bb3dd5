/** Rows of generate-content: what servers that speak it were seen to answer. */
import type { Row } from "./Row.ts"

export const generateContent: ReadonlyArray<Row> = []
