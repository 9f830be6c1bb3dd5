/**
 * Serves a Conductor over MCP to any MCP client. The server offers one tool, `ask`, sends progress notifications during
 * a run, and stops the run if the client cancels the request.
 */
import type { Readable, Writable } from "node:stream"
import { EventLine, type RunEvent, Options as Tables } from "@divisi/core"
import type { Conductor, RunResult } from "@divisi/core/Conductor"
import { type CallToolResult, fromJsonSchema, McpServer, type ServerContext } from "@modelcontextprotocol/server"
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
import * as Effect from "effect/Effect"
import manifest from "../package.json" with { type: "json" }

/** The Conductor to serve, and the description of its tool. */
export interface Options {
  readonly conductor: Conductor["Service"]
  /** Description of the tool `ask`, shown to the client's model. Default: a general description. */
  readonly description?: string | undefined
}

const table = Tables.table(
  { conductor: Tables.madeBy("a Conductor", "run"), description: Tables.name } satisfies Tables.ShapeOf<Options>,
  { required: ["conductor"] }
)

/** Input and output streams. Nothing else may be written to the output. */
export interface Streams {
  readonly input: Readable
  readonly output: Writable
}

const defaultDescription =
  "Answers a question with a team of models: plans the work, gives each step to the model that is good at it, and returns the answer. The question must contain everything that is needed; the team does not see the conversation. It can take minutes."

const question = fromJsonSchema<{ readonly question: string }>({
  type: "object",
  properties: {
    question: { type: "string", minLength: 1, description: "The whole question, with everything needed to answer it" }
  },
  required: ["question"],
  additionalProperties: false
})

// -------------------------------------------------------------------------------------------------------------------
// Progress notifications
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns a function that sends a run's progress to a client that requested it. Errors are ignored if the client has
 * disconnected.
 */
const teller = ({ mcpReq }: ServerContext): ((event: RunEvent.RunEvent) => void) => {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => {}
  let progress = 0
  return (event) => {
    const message = EventLine.of(event)
    if (message === undefined) return
    progress += 1
    const params = { progressToken, progress, message }
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {})
  }
}

const text = (of: string) => [{ type: "text" as const, text: of }]

const waiting = ({ waitingFor }: RunResult): string => {
  const calls = waitingFor.map(
    (waits) =>
      `${waits.call.name}(${waits.call.arguments}) waits for ${waits.for === "approval" ? "an approval" : "its result"}`
  )
  return `No person can approve calls here, so the run was suspended: ${calls.join("; ")}. Approve the tools beforehand, or leave them out.`
}

const why: { readonly [E in Exclude<RunResult["ending"], "answered">]: string } = {
  budget: "The budget stopped the run",
  refused: "The question was declined",
  failed: "The run failed",
  interrupted: "The run was stopped",
  suspended: "The run is suspended"
}

/**
 * Converts a run to a tool result. A run without an answer becomes an MCP tool error, so that the client's model can
 * read the reason.
 */
const resultOf = (result: RunResult): CallToolResult => {
  const { answer, detail, ending, runId, spend } = result
  const _meta = { "divisi/run": { runId, ending, calls: spend.calls, costUsd: spend.costUsd } }
  if (ending === "answered") return { content: text(answer ?? ""), _meta }
  const said = ending === "suspended" ? waiting(result) : (detail ?? "")
  const sofar = answer === undefined ? "" : `\nThe result so far:\n${answer}`
  return { content: text(`${why[ending]}${said === "" ? "." : `: ${said}`}${sofar}`), isError: true, _meta }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

type Run = (question: string, context: ServerContext) => Promise<RunResult>

const serverOf = (run: Run, description: string = defaultDescription): McpServer => {
  const server = new McpServer({ name: "divisi", title: "Divisi", version: manifest.version })
  const annotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: true }
  server.registerTool(
    "ask",
    { title: "Ask a team of models", description, inputSchema: question, annotations },
    async ({ question }, context) => resultOf(await run(question, context))
  )
  return server
}

/** Creates a function that runs questions. Runs use the services in the context of this effect. */
const runner = (options: Options): Effect.Effect<Run> =>
  Effect.map(Effect.context<never>(), (services) => {
    Tables.check("ConductorServer", options, table)
    const { conductor } = options
    const run = Effect.runPromiseWith(services)
    return (question, context) =>
      run(conductor.run(question, { listener: teller(context) }), { signal: context.mcpReq.signal })
  })

/**
 * Creates a server for a transport of the MCP SDK: `server.connect(transport)`. Runs use the services in the context of
 * this effect.
 */
export const make = (options: Options): Effect.Effect<McpServer> =>
  Effect.map(runner(options), (run) => serverOf(run, options.description))

/**
 * Serves one client over standard input and output, or other streams, until the client closes the input. Active runs
 * are then stopped. Interrupting the effect closes the connection.
 */
export const stdio = Effect.fnUntraced(function* (
  options: Options,
  { input, output }: Streams = { input: process.stdin, output: process.stdout }
): Effect.fn.Return<void> {
  const run = yield* runner(options)
  const transport = new StdioServerTransport(input, output)
  yield* Effect.callback<void>((resume) => {
    const end = () => resume(Effect.void)
    input.once("end", end).once("close", end)
    const handle = serveStdio(() => serverOf(run, options.description), { transport })
    return Effect.promise(() => handle.close())
  })
})
