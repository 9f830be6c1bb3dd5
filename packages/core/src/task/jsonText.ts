const fence = "```"

/** Returns the JSON in an answer, without the code fence that some models add. */
export const jsonText = (text: string): string => {
  const trimmed = text.trim()
  if (!trimmed.startsWith(fence) || !trimmed.endsWith(fence)) return trimmed
  const end = trimmed.indexOf("\n")
  const language = trimmed.slice(fence.length, end).trim()
  const isBlock = end > 0 && (language === "" || language === "json")
  return isBlock ? trimmed.slice(end + 1, -fence.length).trim() : trimmed
}
