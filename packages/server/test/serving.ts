/** Servers on free ports of this machine, for tests that speak to them as clients do. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import OpenAI from "openai"
import * as NodeServer from "../src/NodeServer.ts"

/** A server with a client of OpenAI's SDK. */
export interface Serving extends NodeServer.NodeServer {
  readonly client: OpenAI
}

/** Runs a test against a server, and closes that afterwards. */
export const serving = async <A>(options: NodeServer.Options, test: (serving: Serving) => Promise<A>): Promise<A> => {
  const scope = Effect.runSync(Scope.make())
  try {
    const server = await Effect.runPromise(Scope.provide(NodeServer.make({ port: 0, ...options }), scope))
    const client = new OpenAI({ apiKey: "none", baseURL: server.url, maxRetries: 0 })
    return await test({ ...server, client })
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
