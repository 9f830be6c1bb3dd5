/** Flags for `divisi serve`. */
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { age, choice, cost, journal, port, text, timeout, toggle } from "../invocation/flags.ts"
import { database, keys } from "../key/flags.ts"
import { moreTeamFlags, teamFlags } from "../team/flags.ts"
import { clients } from "./ClientConfig.ts"

export const flags = {
  ...teamFlags,
  port: port(8080),
  host: Flag.String("host").pipe(
    Flag.withMetavar("<address>"),
    Flag.withDescription("Address (default 127.0.0.1: this machine only). Any other address requires API keys"),
    Flag.withDefault("127.0.0.1")
  ),
  maxCost: cost("max-cost", "Maximum cost of one run, in USD; never exceeded"),
  maxTotalCost: cost(
    "max-total-cost",
    "Maximum cost of all runs of this process, in USD; never exceeded. With --database, the limit covers all servers. To limit one client, use `divisi key make`"
  ),
  timeout: timeout("Maximum duration of one request, e.g. 30s or 2m. Suspended time does not count"),
  keys: keys.pipe(
    Flag.withDescription(
      'File of API keys (default: DIVISI_KEYS, or keys.json in your data folder). If it contains keys, every request except health checks needs one; "none" disables keys'
    )
  ),
  database: database.pipe(
    Flag.withDescription(
      "Postgres database shared by several servers, e.g. postgres://user@host/name. Runs, keys, budgets and responses are stored there, not in files. Default: DIVISI_DATABASE, serve.database in the config, or none. The password can be set in PGPASSWORD"
    )
  ),
  alias: Flag.String("alias").pipe(
    Flag.withMetavar("<name>=<model>"),
    Flag.withDescription("Alias for a model, e.g. gpt-4o=divisi. Repeatable"),
    Flag.atLeast(0)
  ),
  policies: text(
    "policies",
    "<name,name>",
    "Policies that requests may select, e.g. router:half,lexical (default: none). A selected policy replaces the server's, for the model divisi only"
  ),
  fast: text(
    "fast",
    "<worker|policy>",
    "Worker or policy behind divisi-fast, the model for small requests such as titles, e.g. ollama:qwen3:8b or router:half. Default: the cheapest language model in the pool"
  ),
  printConfig: choice("print-config", clients).pipe(
    Flag.withDescription("Print a client's configuration for this --host and --port, and exit"),
    Flag.optional
  ),
  json: toggle("json", "Log each request as a JSON line, without message text"),
  notes: choice("notes", ["off", "titles", "full"]).pipe(
    Flag.withDescription(
      "How much of a run clients see besides the answer: off (nothing), titles (workers and subtasks) or full (all texts) (default titles)"
    ),
    Flag.withDefault("titles" as const)
  ),
  allowOrigin: Flag.String("allow-origin").pipe(
    Flag.withMetavar("<origin>"),
    Flag.withDescription("Web origin that may call the server, e.g. http://localhost:3000 (default: none). Repeatable"),
    Flag.atLeast(0)
  ),
  content: choice("content", ["full", "none"]).pipe(
    Flag.withDescription(
      "Whether questions, answers and tool results are stored (default full). With none, runs are held only in memory"
    ),
    Flag.optional
  ),
  keep: age(
    "keep",
    "Delete stored data older than this, on startup and hourly, e.g. 30d (at least 24h). Applies to runs, responses, outcomes and cached answers. Default: retention in the config, or never; responses 30d"
  ),
  journal,
  ...moreTeamFlags
}

/** Parsed flags of `divisi serve`. */
export type ServeInput = Command.Command.Config.Infer<typeof flags>
