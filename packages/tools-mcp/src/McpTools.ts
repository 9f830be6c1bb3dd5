/**
 * Makes tools from MCP servers available to the runs of a Conductor.
 *
 * A server is started or connected to when its tools are listed, and stopped when the scope closes. If a server fails
 * later, its tools return failed results and the run continues: if its process exits, active calls fail, and the next
 * call restarts it.
 */

import { Nearest, type Options, type Tool } from "@divisi/core"
import * as Message from "@divisi/core/Message"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "effect/StandardSchema"
import * as Connection from "./connection.ts"
import { type Definition, read as readTools } from "./definitions.ts"
import * as McpServer from "./McpServer.ts"
import { read as readResult } from "./toolResult.ts"

/** A problem with a server or tool: the server did not start, the tool does not exist, or the tool is invalid. */
export interface Problem {
  readonly server: string
  readonly detail: string
}

/**
 * Service that provides the tools of several servers.
 *
 * **Example**
 *
 * ```ts
 * import * as McpTools from "@divisi/tools-mcp/McpTools"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const { problems, tools } = yield* McpTools.make({ files: { command: "no-such-program" } })
 *   return [tools.length, problems[0]?.server]
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => [0, "files"]
 * ```
 */
export class McpTools extends Context.Service<
  McpTools,
  {
    /**
     * The tools, to be passed to a run as `tools`. A tool's name consists of the server's name, `__`, and the tool's
     * name on the server.
     */
    readonly tools: ReadonlyArray<Tool.Tool>
    /** Servers that did not start, invalid tools, and requested tools that do not exist. */
    readonly problems: ReadonlyArray<Problem>
  }
>()("@divisi/tools-mcp/McpTools") {}

/**
 * Server configurations keyed by name. A name consists of at most 32 letters, digits, `_` and `-`, and becomes the
 * prefix of the names of the server's tools.
 */
export type McpServers = Readonly<Record<string, McpServer.McpServer>>

// -------------------------------------------------------------------------------------------------------------------
// Tools
// -------------------------------------------------------------------------------------------------------------------

const mostOfName = 64

/** Returns a short hash of a text. */
const digest = (text: string): string => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(36)
}

/**
 * Returns a tool name that every vendor accepts. If the name had to be changed, it ends with a hash, so that different
 * tools keep different names.
 */
const nameOf = (server: string, tool: string): string => {
  const whole = `${server}__${tool}`
  const allowed = whole.replace(/[^A-Za-z0-9_-]/g, "_")
  if (allowed === whole && whole.length <= mostOfName) return whole
  const end = `_${digest(tool)}`
  return `${allowed.slice(0, mostOfName - end.length)}${end}`
}

/**
 * Returns the server's schema unchanged. Arguments are validated only by the server, so that a schema that cannot be
 * compiled does not disable a tool.
 */
const inputOf = (
  schema: Tool.JsonSchema
): StandardSchemaV1<unknown, Record<string, unknown>> & StandardJSONSchemaV1 => ({
  "~standard": {
    version: 1,
    vendor: "mcp",
    validate: (value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? { value: value as Record<string, unknown> }
        : { issues: [{ message: "Expected an object" }] },
    jsonSchema: { input: () => ({ ...schema }), output: () => ({ ...schema }) }
  }
})

/** Returns the message of a problem as a sentence, without the final period. */
export const messageOf = ({ detail, server }: Problem): string =>
  `the MCP server "${server}"${detail.startsWith("it ") ? detail.slice("it".length) : `: ${detail}`}`

const isAsked = ({ needsApproval }: McpServer.McpServer, { isReadOnly, name }: Definition): boolean => {
  if (needsApproval === undefined) return !isReadOnly
  return typeof needsApproval === "boolean" ? needsApproval : needsApproval.includes(name)
}

const toolOf = (
  server: string,
  options: McpServer.McpServer,
  { call }: Connection.Connection,
  definition: Definition
): Tool.Tool => ({
  name: nameOf(server, definition.name),
  description: definition.description,
  input: inputOf(definition.input),
  needsApproval: isAsked(options, definition),
  timeoutMillis: Connection.maxTimeoutOf(options),
  maxResultCharacters: options.maxResultCharacters,
  execute: (input: Record<string, unknown>, { progress }) =>
    Effect.matchEffect(call(definition, input, progress), {
      onFailure: (detail) => Effect.fail(messageOf({ server, detail })),
      onSuccess: (given) => {
        const result = readResult(given, definition.output)
        if (result === undefined)
          return Effect.fail(messageOf({ server, detail: "it returned a result without content" }))
        return result.isError ? Effect.fail(Message.text(result.content)) : Effect.succeed(result.content)
      }
    })
})

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

type Found = McpTools["Service"]

const missing = (wanted: string, names: ReadonlyArray<string>): string => {
  const meant = Nearest.nearest(wanted, names)
  return `it has no tool "${wanted}"${meant === undefined ? `; it has ${names.join(", ") || "none"}` : `; did you mean "${meant}"?`}`
}

const ofServer = Effect.fnUntraced(function* (
  server: string,
  options: McpServer.McpServer
): Effect.fn.Return<Found, never, Scope.Scope> {
  const connection = yield* Connection.make(options)
  const listed = yield* Effect.result(connection.list)
  if (Result.isFailure(listed)) return { tools: [], problems: [{ server, detail: listed.failure }] }
  const { problems, tools } = readTools(listed.success)
  const definitions = new Map(tools.map((definition) => [definition.name, definition]))
  const names = [...definitions.keys()]
  const wanted = options.tools ?? names
  return {
    tools: wanted.flatMap((name) => {
      const definition = definitions.get(name)
      return definition === undefined ? [] : [toolOf(server, options, connection, definition)]
    }),
    problems: [
      ...problems.map((detail) => ({ server, detail })),
      ...wanted.flatMap((name) => (definitions.has(name) ? [] : [{ server, detail: missing(name, names) }]))
    ]
  }
})

/**
 * Starts or connects to all servers in parallel and lists their tools.
 *
 * **Details**
 *
 * A server that does not start has no tools, and invalid tools are omitted; `problems` gives the reasons. Servers are
 * stopped when the scope closes: their input is closed, and a server that is still running after two seconds is stopped
 * together with its child processes (SIGTERM, then SIGKILL after another two seconds). Tools are listed once; if a
 * server removes a tool later, calls to it fail. Fails with an `OptionsError` if the configuration of a server is
 * invalid.
 */
export const make = Effect.fnUntraced(function* (
  servers: McpServers
): Effect.fn.Return<Found, Options.OptionsError, Scope.Scope> {
  const entries = Object.entries(servers)
  yield* Effect.try({
    try: () => {
      for (const [name, server] of entries) McpServer.check(name, server)
    },
    catch: (error) => error as Options.OptionsError
  })
  const found = yield* Effect.forEach(entries, ([name, options]) => ofServer(name, options), {
    concurrency: "unbounded"
  })
  return McpTools.of({
    tools: found.flatMap(({ tools }) => tools),
    problems: found.flatMap(({ problems }) => problems)
  })
})

/** Provides the tools of the given servers as a service. Servers are stopped when the layer is released. */
export const layer = (servers: McpServers): Layer.Layer<McpTools, Options.OptionsError> =>
  Layer.effect(McpTools, make(servers))
