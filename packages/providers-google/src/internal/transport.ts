/** Sends requests with `fetch` alone. */
import { type Body, type Transport, withTools } from "@divisi/provider-kit/Gemini"
import type { GoogleOptions } from "../google.ts"

const vendor = "https://generativelanguage.googleapis.com"

/** Returns the API's URL for a model; tuned models are in a separate folder. */
const urlOf = (baseURL: string | undefined, model: string): string => {
  const path = model.includes("/") ? model : `models/${model}`
  return `${baseURL ?? vendor}/v1beta/${path}:streamGenerateContent?alt=sse`
}

/** Creates a transport that uses the API without an SDK. */
export const transport = (model: string, options: GoogleOptions): Transport => ({
  name: "google",
  baseURLs: ["GOOGLE_GEMINI_BASE_URL"],
  connect: (key, { baseURL, fetch }) => {
    const headers = { "content-type": "application/json", ...options.headers, "x-goog-api-key": key }
    const url = urlOf(baseURL, model)
    return (body: Body, signal) => {
      const sent = { ...body, ...options.body, ...withTools(body, options.body?.tools) }
      return fetch(url, { method: "POST", headers, body: JSON.stringify(sent), signal })
    }
  }
})
