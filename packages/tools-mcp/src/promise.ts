/** Tools from MCP servers for `@divisi/core/promise`. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as McpTools from "./McpTools.ts"

export type { HttpServer, McpServer, Secret, StdioServer } from "./McpServer.ts"
export type { McpServers, Problem } from "./McpTools.ts"

/** The tools of running servers. */
export interface OpenTools extends AsyncDisposable {
  /**
   * The tools, to be passed to a run as `tools`. A tool's name consists of the server's name, `__`, and the tool's name
   * on the server.
   */
  readonly tools: McpTools.McpTools["Service"]["tools"]
  /** Servers that did not start, invalid tools, and requested tools that do not exist. */
  readonly problems: McpTools.McpTools["Service"]["problems"]
  /** Stops the servers. */
  readonly close: () => Promise<void>
}

/**
 * Starts or connects to MCP servers and lists their tools. `close` stops the servers. If the result is declared with
 * `await using`, they are stopped at the end of the block.
 *
 * **Details**
 *
 * A server that does not start has no tools, and `problems` gives the reason. If a server exits later, its active calls
 * fail, and the next call restarts it. The promise rejects with an `OptionsError` if the configuration of a server is
 * invalid.
 *
 * **Example**
 *
 * ```ts
 * import { openTools } from "@divisi/tools-mcp/promise"
 *
 * await using servers = await openTools({ files: { command: "no-such-program" } })
 * servers.tools.length // => 0
 * servers.problems[0]?.detail // => "it did not start: the program \"no-such-program\" was not found"
 * ```
 */
export const openTools = async (servers: McpTools.McpServers): Promise<OpenTools> => {
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const found = await Effect.runPromise(Scope.provide(McpTools.make(servers), scope))
  return { ...found, close, [Symbol.asyncDispose]: close }
}
