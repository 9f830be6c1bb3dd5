/** The item that carries a conversation in short, in the place of all that came before. */
import { invalid } from "../wire/ApiError.ts"
import { isObject, type JsonObject, text } from "../wire/Json.ts"

/** What an item carries. It is the client's own conversation, so it hides nothing. */
export const sealed = (summary: string): string =>
  Buffer.from(JSON.stringify({ version: 1, summary })).toString("base64")

const opened = (content: string): unknown => {
  try {
    return JSON.parse(Buffer.from(content, "base64").toString("utf8"))
  } catch {
    return undefined
  }
}

/** The text that an item carries. Throws an `ApiError` where another server has made it. */
export const summaryOf = (item: JsonObject, field: string): string => {
  const content = opened(text(item.encrypted_content, `${field}.encrypted_content`))
  if (isObject(content) && content.version === 1 && typeof content.summary === "string") return content.summary
  throw invalid(field, `${field} is a compaction that this server has not made: send the conversation itself.`)
}
