/** Servers on free ports of this machine, for tests that speak to them as clients do. */

import Anthropic from "@anthropic-ai/sdk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import OpenAI from "openai"
import * as NodeServer from "../src/NodeServer.ts"

/** A server with clients of the vendors' SDKs. */
export interface Serving extends NodeServer.NodeServer {
  readonly client: OpenAI
  readonly anthropic: Anthropic
}

/** Runs a test against a server, and closes that afterwards. */
export const serving = async <A>(options: NodeServer.Options, test: (serving: Serving) => Promise<A>): Promise<A> => {
  const scope = Effect.runSync(Scope.make())
  try {
    const server = await Effect.runPromise(Scope.provide(NodeServer.make({ port: 0, ...options }), scope))
    const client = new OpenAI({ apiKey: "none", baseURL: server.url, maxRetries: 0 })
    const root = server.url.replace(/\/v1$/, "")
    const anthropic = new Anthropic({ apiKey: "none", authToken: null, baseURL: root, maxRetries: 0 })
    return await test({ ...server, client, anthropic })
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
