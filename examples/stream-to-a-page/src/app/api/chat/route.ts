/** The route of a Next app for `useChat`. */
import { questionOf, uiMessageResponse } from "@divisi/providers-ai-sdk"
import { team } from "../../../team.ts"

export const POST = async (request: Request): Promise<Response> => {
  const { messages } = (await request.json()) as { readonly messages: unknown }
  return uiMessageResponse({ ...team, question: questionOf(messages), signal: request.signal })
}
