/** Configuration for an MCP server: the program to start or the URL to connect to, and the allowed tools. */
import { Options } from "@divisi/core"
import * as Redacted from "effect/Redacted"

/** A string that may be a secret. Redacted values never appear in messages. */
export type Secret = string | Redacted.Redacted<string>

interface Common {
  /** The allowed tools, by their names on the server. Default: all. */
  readonly tools?: ReadonlyArray<string> | undefined
  /**
   * The tools that require human approval before they run: all, none, or those with the given names on the server.
   * Default: all except those that the server declares read-only (`readOnlyHint`).
   */
  readonly needsApproval?: boolean | ReadonlyArray<string> | undefined
  /**
   * Maximum time for a call without progress, in milliseconds. If it is exceeded, the call is cancelled. Default:
   * 60,000.
   */
  readonly timeoutMillis?: number | undefined
  /** Maximum total time for a call that reports progress, in milliseconds. Default: ten times `timeoutMillis`. */
  readonly maxTimeoutMillis?: number | undefined
  /** Maximum time for starting the server and listing its tools, in milliseconds. Default: 30,000. */
  readonly startMillis?: number | undefined
  /**
   * Maximum length of a result, in characters. Longer results are truncated, and the worker is notified. Default:
   * 100,000.
   */
  readonly maxResultCharacters?: number | undefined
}

/** A server started as a child process, which communicates over standard input and output. */
export interface StdioServer extends Common {
  /** The program, which is looked up in PATH and started without a shell. */
  readonly command: string
  readonly args?: ReadonlyArray<string> | undefined
  /**
   * Environment variables for the server, in addition to those that programs need to start, such as PATH and
   * HOME. No other variable of this process is passed on.
   */
  readonly env?: Readonly<Record<string, Secret>> | undefined
  /** Working directory of the server. Default: that of this process. */
  readonly cwd?: string | undefined
  readonly url?: undefined
}

/** A server that uses streamable HTTP. */
export interface HttpServer extends Common {
  readonly url: string | URL
  /** Headers for every request, such as `Authorization`. They are not sent to another host after a redirect. */
  readonly headers?: Readonly<Record<string, Secret>> | undefined
  readonly command?: undefined
}

/** Configuration for an MCP server, started as a process or reached by URL. */
export type McpServer = StdioServer | HttpServer

const texts = Options.listOf(Options.text)

const secrets = Options.recordOf(
  Options.expects("a string or a Redacted", (value) => typeof value === "string" || Redacted.isRedacted(value))
)

const address = Options.expects(
  "an http or https URL",
  (value) => URL.canParse(String(value)) && /^https?:$/.test(new URL(String(value)).protocol)
)

const shape = {
  command: Options.name,
  args: texts,
  env: secrets,
  cwd: Options.name,
  url: address,
  headers: secrets,
  tools: texts,
  needsApproval: Options.either(
    Options.flag,
    Options.expects(
      "a list of tool names",
      (names) => Array.isArray(names) && names.every((name) => typeof name === "string")
    )
  ),
  timeoutMillis: Options.limit,
  maxTimeoutMillis: Options.limit,
  startMillis: Options.limit,
  maxResultCharacters: Options.limit
} satisfies Options.ShapeOf<Record<keyof StdioServer | keyof HttpServer, unknown>>

/** The option fields for each kind of server: one that is started, or one that is reached by URL. */
const ofEither = { command: ["args", "env", "cwd"], url: ["headers"] } as const

/** Validates the configuration of a server. Throws an `OptionsError` if it is invalid. */
export const check = (name: string, server: McpServer): void => {
  const what = `the MCP server "${name}"`
  if (!/^[A-Za-z0-9_-]{1,32}$/.test(name)) {
    throw new Options.OptionsError({ what, detail: "its name must be 1 to 32 letters, digits, _ and -." })
  }
  Options.check(what, server, shape)
  const isStarted = server.command !== undefined
  if (isStarted === (server.url !== undefined)) {
    throw new Options.OptionsError({
      what,
      detail: 'set either "command", to start a program, or "url", to connect to a server.'
    })
  }
  const foreign = ofEither[isStarted ? "url" : "command"].find((option) => Object.hasOwn(server, option))
  if (foreign !== undefined) {
    throw new Options.OptionsError({
      what,
      detail: `"${foreign}" is for a server with a "${isStarted ? "url" : "command"}".`
    })
  }
}

/** Returns values with their secrets in plain text. */
export const revealed = (values: Readonly<Record<string, Secret>> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])
  )

/** Minimum length of a secret. Shorter values, such as `1` or `true`, are not secrets and occur in many messages. */
const leastSecret = 6

/** Removes the server's secrets from a text. */
export const withoutSecrets = (server: McpServer, text: string): string =>
  Object.values(revealed(server.command === undefined ? server.headers : server.env))
    .flatMap((value) => [value, value.replace(/^\S+ /, "")])
    .filter((value) => value.length >= leastSecret)
    .reduce((shown, value) => shown.replaceAll(value, "<redacted>"), text)
