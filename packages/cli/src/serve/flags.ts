/** Flags for `divisi serve`: the address, and those of `divisi run` except the question. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Struct from "effect/Struct"
import { age, cost, text, timeout, toggle, whole } from "../invocation/flags.ts"
import { database, keys } from "../key/flags.ts"
import { flags as ofRun } from "../run/flags.ts"
import { clients } from "./ClientConfig.ts"

const team = Struct.omit(ofRun, ["file", "json", "question", "transcript", "durable", "runId"])

export const flags = {
  ...team,
  port: whole("port", 0).pipe(
    Flag.withMetavar("<number>"),
    Flag.withDescription("Port (default 8080); 0 picks a free one"),
    Flag.withDefault(8080)
  ),
  host: Flag.String("host").pipe(
    Flag.withMetavar("<address>"),
    Flag.withDescription("Address (default 127.0.0.1: this machine only)"),
    Flag.withDefault("127.0.0.1")
  ),
  notes: Flag.Literals("notes", ["off", "titles", "full"]).pipe(
    Flag.withDescription(
      "How much of the work clients see: off (nothing), titles (workers and subtasks; default) or full (all texts)"
    ),
    Flag.withDefault("titles" as const)
  ),
  fast: text(
    "fast",
    "<worker|policy>",
    "Worker or policy behind divisi-fast, e.g. router:half (default: the cheapest language model in the pool)"
  ),
  policies: text(
    "policies",
    "<name,name>",
    "Policies that requests for the model divisi may select instead of the server's, e.g. router:half,lexical (default: none)"
  ),
  alias: Flag.String("alias").pipe(
    Flag.withMetavar("<name>=<model>"),
    Flag.withDescription("Alias for a model: gpt-4o=divisi. Repeatable"),
    Flag.atLeast(0)
  ),
  allowOrigin: Flag.String("allow-origin").pipe(
    Flag.withMetavar("<origin>"),
    Flag.withDescription(
      "Origin of a web page that may use the server: http://localhost:3000 (default: none). Repeatable"
    ),
    Flag.atLeast(0)
  ),
  maxCost: cost("max-cost", "Maximum cost of one run, in USD; never exceeded"),
  maxTotalCost: cost(
    "max-total-cost",
    "Maximum cost of all runs of this process, in USD; never exceeded. With --database: of all servers. Per client: `divisi key make`"
  ),
  timeout: timeout("Maximum working time of a run per request, e.g. 30s or 2m; suspended time does not count"),
  content: Flag.Literals("content", ["full", "none"]).pipe(
    Flag.withDescription(
      "Whether questions, answers and tool results are stored: full (default), or none, which holds runs only in memory"
    ),
    Flag.optional
  ),
  keep: age(
    "keep",
    "Retention period of stored runs, responses, outcomes and cached answers, e.g. 30d, at least 24h; older ones are deleted on startup and hourly (default: retention in the config, or forever; responses 30d)"
  ),
  keys: keys.pipe(
    Flag.withDescription(
      'File of API keys (default: DIVISI_KEYS, or keys.json in your data folder); "none" disables keys. If it contains keys, every request needs one'
    )
  ),
  database: database.pipe(
    Flag.withDescription(
      "Postgres shared by several servers, e.g. postgres://user@host/name; runs, keys, budgets and responses are stored there instead of in files (default: DIVISI_DATABASE, or serve.database in the config, or none). The password can be in PGPASSWORD"
    )
  ),
  printConfig: Flag.Literals("print-config", clients).pipe(
    Flag.withDescription("Print the configuration of a client for --host and --port, and exit"),
    Flag.optional
  ),
  json: toggle("json", "Log each request as a JSON line, without message text")
}

/** Parsed flags of `divisi serve`. */
export type ServeInput = Command.Command.Config.Infer<typeof flags>
