/** How `@google/genai` sends a body, and what it throws. */

import { defined } from "@divisi/core/Fields"
import type { WorkerErrorReason } from "@divisi/core/Worker"
import type { Body, Chunk, Sdk } from "@divisi/provider-kit/Gemini"
import { type ErrorBody, ofConnection, reasonOf } from "@divisi/provider-kit/Gemini"
import { ApiError, GoogleGenAI, type GenerateContentParameters as Parameters } from "@google/genai"
import type { GenaiOptions } from "../genai.ts"

/** The SDK's errors leave out the headers; they are kept here until the error is read. */
const headersOf = new WeakMap<object, Headers>()

/** The body of an error is in its message, as JSON; in a stream, words of the SDK precede it. */
const bodyOf = (message: string): ErrorBody => {
  try {
    const { error } = JSON.parse(message.slice(message.indexOf("{"))) as { readonly error?: ErrorBody | undefined }
    return error ?? { message }
  } catch {
    return { message }
  }
}

const unreadable = /incomplete json|parsing stream chunk|body is empty/i

/** The reason of whatever the SDK throws. `nowMillis` is what a retry-after date is counted from. */
const toReason = (error: unknown, nowMillis: number): WorkerErrorReason => {
  if (error instanceof ApiError) {
    const { message, status } = error
    return reasonOf({ status, body: bodyOf(message), headers: headersOf.get(error), nowMillis })
  }
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof SyntaxError) return { _tag: "Malformed", detail: "an event is not JSON" }
  return unreadable.test(message) ? { _tag: "Malformed", detail: message } : ofConnection(error)
}

const makeClient = (key: string, { baseURL, headers }: GenaiOptions) =>
  new GoogleGenAI({
    apiKey: key,
    // The key is for the Gemini API, whatever the environment says.
    enterprise: false,
    // The SDK's types accept no option that is undefined.
    httpOptions: defined({ baseUrl: baseURL, headers: headers && { ...headers } })
  })

/** The SDK as workers use it. */
export const sdk = (model: string, options: GenaiOptions): Sdk => ({
  name: "genai",
  toReason,
  connect: (key) => {
    const { models } = makeClient(key, options)
    return async ({ contents, generationConfig, systemInstruction }: Body, signal): Promise<AsyncIterable<Chunk>> => {
      let refused: Headers | undefined
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const response = await (options.fetch ?? globalThis.fetch)(input, init)
        if (!response.ok) refused = response.headers
        return response
      }
      const config = {
        ...generationConfig,
        systemInstruction,
        ...options.config,
        abortSignal: signal,
        // Resuming a broken stream would be a retry, which is the runtime's task.
        automaticContinuation: false,
        httpOptions: { fetch }
      }
      try {
        // The SDK names thinking levels by an enumeration of its own.
        return (await models.generateContentStream({ model, contents, config } as Parameters)) as AsyncIterable<Chunk>
      } catch (error) {
        if (refused !== undefined && error instanceof ApiError) headersOf.set(error, refused)
        throw error
      }
    }
  }
})
