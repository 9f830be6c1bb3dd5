/** How `@google/generative-ai` sends a body, and what it throws. */

import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Body, Chunk, Sdk } from "@divisi/provider-kit/Gemini"
import { type ErrorBody, ofConnection, reasonOf } from "@divisi/provider-kit/Gemini"
import {
  type EnhancedGenerateContentResponse,
  type GenerateContentRequest,
  GoogleGenerativeAI,
  GoogleGenerativeAIError,
  GoogleGenerativeAIFetchError
} from "@google/generative-ai"
import type { GoogleOptions } from "../google.ts"

/** The vendor's message, without what the SDK puts before and after it. */
const bodyOf = ({ errorDetails, message }: GoogleGenerativeAIFetchError): ErrorBody => {
  const details = errorDetails as ErrorBody["details"]
  const said = message.replace(/^\[GoogleGenerativeAI Error\]: Error fetching from \S+ \[\d+ [^\]]*\] ?/, "")
  const words = details === undefined ? said : said.replace(` ${JSON.stringify(details)}`, "")
  return { message: words === "" ? undefined : words, details }
}

const unreadable = /failed to parse stream|error parsing json response/i

/** The SDK passes on neither headers nor causes: an unknown host is only a failed fetch here. */
const toReason = (error: unknown): WorkerErrorReason => {
  if (error instanceof GoogleGenerativeAIFetchError) {
    return reasonOf({ status: error.status, body: bodyOf(error) })
  }
  if (!(error instanceof GoogleGenerativeAIError)) return ofConnection(error)
  return unreadable.test(error.message)
    ? { _tag: "Malformed", detail: "what came is no stream of events" }
    : { _tag: "Network", detail: error.message.replace("[GoogleGenerativeAI Error]: ", "") }
}

/** The SDK as workers use it. */
export const sdk = (model: string, options: GoogleOptions): Sdk => ({
  name: "google",
  toReason,
  connect: (key) => {
    const client = new GoogleGenerativeAI(key).getGenerativeModel(
      // The SDK's types accept no option that is undefined.
      defined({ model, safetySettings: options.safetySettings?.slice() }),
      defined({ baseUrl: options.baseURL, customHeaders: options.headers && { ...options.headers } })
    )
    return async (body: Body, signal): Promise<AsyncIterable<Chunk>> => {
      // The SDK's types have neither seeds nor thinking, but it sends what it is given.
      const { response, stream } = await client.generateContentStream(body as GenerateContentRequest, { signal })
      response.catch(() => undefined)
      return stream as AsyncIterable<EnhancedGenerateContentResponse & Chunk>
    }
  }
})
