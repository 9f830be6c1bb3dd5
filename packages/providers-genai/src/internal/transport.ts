/** How `@google/genai` sends a body. */

import { defined } from "@divisi/core/Fields"
import { type Body, type Transport, withTools } from "@divisi/provider-kit/Gemini"
import { GoogleGenAI, type GenerateContentParameters as Parameters } from "@google/genai"
import type { GenaiOptions } from "../genai.ts"

/** The SDK makes the request; its response is read like that of every vendor. */
export const transport = (model: string, options: GenaiOptions): Transport => ({
  name: "genai",
  baseURLs: ["GOOGLE_GEMINI_BASE_URL"],
  connect: (key, { baseURL, fetch }) => {
    const { models } = new GoogleGenAI({
      apiKey: key,
      // The key is for the Gemini API, whatever the environment says.
      enterprise: false,
      // The SDK's types accept no option that is undefined.
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
        // Either would be a second request: calling functions, and resuming a broken stream.
        automaticFunctionCalling: { disable: true },
        automaticContinuation: false,
        httpOptions: {
          fetch: async (...request: globalThis.Parameters<typeof globalThis.fetch>) => {
            response = await fetch(...request)
            return response
          }
        }
      }
      // The SDK names thinking levels by an enumeration of its own. It reads the response when its events are asked for.
      await models.generateContentStream({ model, contents, config } as Parameters)
      if (response === undefined) throw new Error("the SDK sent no request")
      return response
    }
  }
})
