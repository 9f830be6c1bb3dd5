/** Sends requests through `@google/genai`. */

import { defined } from "@divisi/core/Fields"
import { type Body, type Transport, withTools } from "@divisi/provider-kit/Gemini"
import { GoogleGenAI, type GenerateContentParameters as Parameters } from "@google/genai"
import type { GenaiOptions } from "../genai.ts"

/**
 * Creates a transport in which the SDK sends the request, while the response is read by the code shared with other
 * vendors.
 */
export const transport = (model: string, options: GenaiOptions): Transport => ({
  name: "genai",
  baseURLs: ["GOOGLE_GEMINI_BASE_URL"],
  connect: (key, { baseURL, fetch }) => {
    const { models } = new GoogleGenAI({
      apiKey: key,
      // The key is for the Gemini API, regardless of the environment.
      enterprise: false,
      // The SDK's types do not permit undefined options.
      httpOptions: defined({ baseUrl: baseURL, headers: options.headers && { ...options.headers } })
    })
    return async (body: Body, signal): Promise<Response> => {
      const { contents, generationConfig, ...more } = body
      let response: Response | undefined
      const config = {
        ...generationConfig,
        ...more,
        ...options.config,
        ...withTools(body, options.config?.tools),
        abortSignal: signal,
        // Both would send another request: calling functions automatically, and resuming a broken stream.
        automaticFunctionCalling: { disable: true },
        automaticContinuation: false,
        httpOptions: {
          fetch: async (...request: globalThis.Parameters<typeof globalThis.fetch>) => {
            response = await fetch(...request)
            return response
          }
        }
      }
      // The SDK defines an enumeration for thinking levels. It reads the response only when its events are requested.
      await models.generateContentStream({ model, contents, config } as Parameters)
      if (response === undefined) throw new Error("the SDK sent no request")
      return response
    }
  }
})
