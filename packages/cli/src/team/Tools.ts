/** Provides the tools for a run: those in the config, and those of MCP servers, which are started for the run. */
import { Nearest, type Tool } from "@divisi/core"
import type { RunSettings, ToolAccess } from "@divisi/core/RunSettings"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Config, McpServer } from "../config.ts"
import { capitalized, type Failure, usage } from "../invocation/Failure.ts"
import { listOf } from "../invocation/flags.ts"
import { explain } from "../invocation/OptionalPackage.ts"

/** Flags that select tools. They take precedence over the config. */
export interface Flags {
  readonly tool: Option.Option<string>
  readonly noTools: boolean
  readonly toolAccess: Option.Option<ToolAccess>
  readonly mcp: ReadonlyArray<string>
  readonly approve: Option.Option<string>
}

type Servers = Readonly<Record<string, McpServer>>

// -------------------------------------------------------------------------------------------------------------------
// Names
// -------------------------------------------------------------------------------------------------------------------

/** Parses the names in a flag. `undefined` means all. */
const namesIn = (flag: Option.Option<string>): ReadonlyArray<string> | undefined => {
  const names = listOf(Option.getOrElse(flag, () => "all"))
  return names.includes("all") ? undefined : names
}

/** Returns the server that provides a tool, or `undefined` if the tool is defined in the config. */
const serverOf = (tool: string): string | undefined => {
  const at = tool.indexOf("__")
  return at < 1 ? undefined : tool.slice(0, at)
}

/** Whether a name refers to a tool or to its server. */
const means = (name: string, tool: string): boolean => name === tool || name === serverOf(tool)

/**
 * Returns the tools with the given names, or all tools for `undefined`. Fails if a name is unknown, and lists the
 * available names.
 */
const named = (
  flag: string,
  names: ReadonlyArray<string> | undefined,
  tools: ReadonlyArray<Tool.Tool>
): Effect.Effect<ReadonlyArray<Tool.Tool>, Failure> => {
  if (names === undefined) return Effect.succeed(tools)
  const known = tools.map(({ name }) => name)
  const unknown = names.find((name) => !known.some((tool) => means(name, tool)))
  if (unknown === undefined) return Effect.succeed(tools.filter((tool) => names.some((name) => means(name, tool.name))))
  const available =
    known.length === 0
      ? "No tools are configured. Add some with --mcp, or with tools or mcpServers in the config."
      : `Available: ${known.join(", ")}.`
  const hint = Nearest.didYouMean(Nearest.nearest(unknown, known), available)
  return Effect.fail(usage(`${flag}: unknown tool "${unknown}".${hint}`))
}

// -------------------------------------------------------------------------------------------------------------------
// Servers
// -------------------------------------------------------------------------------------------------------------------

/** Splits a command line into words. Quotes group words. */
const wordsOf = (line: string): ReadonlyArray<string> =>
  [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"))

/** Parses the value of `--mcp` into a server and the prefix for its tool names. */
const described = (text: string, index: number): Effect.Effect<readonly [string, McpServer], Failure> => {
  const [, given, rest] = /^(?:([A-Za-z0-9_-]{1,32})=)?(.*)$/s.exec(text.trim())!
  const name = given ?? (index === 0 ? "mcp" : `mcp${index + 1}`)
  if (/^https?:\/\//.test(rest!)) return Effect.succeed([name, { url: rest!.trim() }])
  const [command, ...args] = wordsOf(rest!)
  return command === undefined
    ? Effect.fail(usage("--mcp: expected a command with its arguments, or a URL."))
    : Effect.succeed([name, { command, args }])
}

/** Shows a note on a terminal while servers start, because that can take long if npx has to download one first. */
const patiently = <A, E, R>(names: ReadonlyArray<string>, start: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const say = Effect.sync(() => {
    if (process.stderr.isTTY === true) process.stderr.write(`divisi: starting MCP servers: ${names.join(", ")} …\n`)
  })
  return Effect.raceFirst(start, Effect.andThen(Effect.delay(say, "2 seconds"), Effect.never))
}

/** Starts servers. If one fails to start, this is reported and its tools are missing. */
const started = Effect.fnUntraced(function* (
  servers: Servers
): Effect.fn.Return<ReadonlyArray<Tool.Tool>, Failure, Scope.Scope> {
  if (Object.keys(servers).length === 0) return []
  const McpTools = yield* Effect.tryPromise({
    try: () => import("@divisi/tools-mcp/McpTools"),
    catch: (error) => usage(`Cannot use MCP servers. ${explain(error)}`)
  })
  const { problems, tools } = yield* Effect.mapError(
    patiently(Object.keys(servers), McpTools.make(servers as Parameters<typeof McpTools.make>[0])),
    ({ message }) => usage(capitalized(message))
  )
  for (const problem of problems) {
    process.stderr.write(`divisi: ${capitalized(McpTools.messageOf(problem))}. The run continues without it.\n`)
  }
  return tools
})

/** Returns the servers that may provide a requested tool. */
const wantedOf = (servers: Servers, names: ReadonlyArray<string> | undefined): Servers =>
  Object.fromEntries(
    Object.entries(servers).filter(([server]) => names?.some((name) => [name, serverOf(name)].includes(server)) ?? true)
  )

// -------------------------------------------------------------------------------------------------------------------
// The tools of a run
// -------------------------------------------------------------------------------------------------------------------

/** Returns the tool settings for a run. MCP servers are stopped when the scope closes. */
export const resolve = Effect.fnUntraced(function* (
  config: Config,
  flags: Flags
): Effect.fn.Return<Pick<RunSettings, "tools" | "toolAccess">, Failure, Scope.Scope> {
  const toolAccess = Option.getOrElse(flags.toolAccess, () => config.toolAccess)
  if (flags.noTools || toolAccess === "none") return { tools: [], toolAccess }
  const names = namesIn(flags.tool)
  const added = yield* Effect.forEach(flags.mcp, described)
  const servers = wantedOf({ ...config.mcpServers, ...Object.fromEntries(added) }, names)
  const all = [...(config.tools ?? []), ...(yield* started(servers))]
  const tools = yield* named("--tool", names, all)
  if (Option.isNone(flags.approve)) return { tools, toolAccess }
  // The failed start of a server was already reported.
  const approvable = namesIn(flags.approve)?.filter(
    (name) => !Object.hasOwn(servers, name) || tools.some((tool) => means(name, tool.name))
  )
  const approved = new Set(yield* named("--approve", approvable, tools))
  return { tools: tools.map((tool) => (approved.has(tool) ? { ...tool, needsApproval: false } : tool)), toolAccess }
})
