/**
 * An MCP server as a caller describes it: the program to start or the URL to call, and which of its tools may be used.
 */
import { Options } from "@divisi/core"
import * as Redacted from "effect/Redacted"

/** A text that may be a secret. Messages never show one. */
export type Secret = string | Redacted.Redacted<string>

interface Common {
  /** The tools that may be used, by the server's own names; all when absent. */
  readonly tools?: ReadonlyArray<string> | undefined
  /**
   * Which tools a person is asked about before they run: all, none, or those that are named, by the server's own names.
   * When absent, all but those that the server calls read-only (`readOnlyHint`).
   */
  readonly needsApproval?: boolean | ReadonlyArray<string> | undefined
  /** How long a call may take without progress, in milliseconds; 60,000 by default. It is cancelled then. */
  readonly timeoutMillis?: number | undefined
  /** How long a call may take that reports progress, in milliseconds; ten times `timeoutMillis` by default. */
  readonly maxTimeoutMillis?: number | undefined
  /** How long the server may take until it has listed its tools, in milliseconds; 30,000 by default. */
  readonly startMillis?: number | undefined
  /**
   * Maximum length of a result in characters; 100,000 by default. A longer one is truncated, and the worker is
   * notified.
   */
  readonly maxResultCharacters?: number | undefined
}

/** A server that is started as a process, and spoken to over its standard input and output. */
export interface StdioServer extends Common {
  /** The program, looked for on the PATH. It is started without a shell. */
  readonly command: string
  readonly args?: ReadonlyArray<string> | undefined
  /**
   * Added to a short list of harmless variables (PATH, HOME and the like): the server sees no others of this process.
   */
  readonly env?: Readonly<Record<string, Secret>> | undefined
  /** The folder it is started in; that of this process by default. */
  readonly cwd?: string | undefined
  readonly url?: undefined
}

/** A server that is reached over streamable HTTP. */
export interface HttpServer extends Common {
  readonly url: string | URL
  /** Sent with each request, e.g. `Authorization`. They follow no redirect to another host. */
  readonly headers?: Readonly<Record<string, Secret>> | undefined
  readonly command?: undefined
}

/** A server. */
export type McpServer = StdioServer | HttpServer

const texts = Options.expects(
  "a list of texts",
  (value) => Array.isArray(value) && value.every((item) => typeof item === "string")
)

const secrets = Options.expects(
  "an object of texts",
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((item) => typeof item === "string" || Redacted.isRedacted(item))
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
  needsApproval: Options.either(Options.flag, texts),
  timeoutMillis: Options.limit,
  maxTimeoutMillis: Options.limit,
  startMillis: Options.limit,
  maxResultCharacters: Options.limit
} satisfies Options.ShapeOf<Record<keyof StdioServer | keyof HttpServer, unknown>>

/** Fields for a server that is started, or for one that is reached by URL. */
const ofEither = { command: ["args", "env", "cwd"], url: ["headers"] } as const

/** Throws an `OptionsError` where the description of a server is wrong. */
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
      detail: 'it needs either a "command" to start or a "url" to connect to.'
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

/** Secrets as they are. */
export const revealed = (values: Readonly<Record<string, Secret>> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])
  )

/** Shorter values, such as `1` or `true`, are not secrets, and occur in many messages. */
const leastSecret = 6

/** The text without the secrets that the server was given. */
export const withoutSecrets = (server: McpServer, text: string): string =>
  Object.values(revealed(server.command === undefined ? server.headers : server.env))
    .flatMap((value) => [value, value.replace(/^\S+ /, "")])
    .filter((value) => value.length >= leastSecret)
    .reduce((shown, value) => shown.replaceAll(value, "<redacted>"), text)
