/** Servers on free ports of this machine, for tests that speak to them as clients do. */

import Anthropic from "@anthropic-ai/sdk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import OpenAI from "openai"
import * as NodeServer from "../src/NodeServer.ts"

/** A server with clients of the vendors' SDKs. */
export interface Serving extends NodeServer.NodeServer {
  readonly client: OpenAI
  readonly anthropic: Anthropic
}

/** Runs a test against a server, and closes that afterwards. `gate` is the gate of its providers. Default: none. */
export const serving = async <A>(
  options: NodeServer.Options,
  test: (serving: Serving) => Promise<A>,
  gate: Layer.Layer<never> = Layer.empty
): Promise<A> => {
  const scope = Effect.runSync(Scope.make())
  try {
    const context = await Effect.runPromise(Layer.buildWithScope(gate, scope))
    const made = Effect.provideContext(NodeServer.make({ port: 0, ...options }), context)
    const server = await Effect.runPromise(Scope.provide(made, scope))
    const client = new OpenAI({ apiKey: "none", baseURL: server.url, maxRetries: 0 })
    const root = server.url.replace(/\/v1$/, "")
    const anthropic = new Anthropic({ apiKey: "none", authToken: null, baseURL: root, maxRetries: 0 })
    return await test({ ...server, client, anthropic })
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
