/**
 * Calls four models on the server at `VENDOR_URL`: one answers and three reject the key. Prints the results by name.
 */
import { conduct } from "@divisi/core/promise"
import { anthropic } from "@divisi/providers-anthropic"
import { google } from "@divisi/providers-google"
import { openaiChat, openaiCompatible } from "@divisi/providers-openai"

export const ask = async () => {
  const at = { baseURL: process.env.VENDOR_URL, apiKey: "k" }
  const models = {
    answered: openaiCompatible({ ...at, model: "m" }),
    openai: openaiChat("refused", at),
    anthropic: anthropic("refused", at),
    google: google("refused", at)
  }
  const said = {}
  for (const [name, model] of Object.entries(models)) {
    const retry = { maxAttempts: 1, baseDelayMillis: 0 }
    const { answer, error } = await conduct({ question: "Why?", pool: [model], retry })
    said[name] = answer ?? error.message
  }
  return said
}
