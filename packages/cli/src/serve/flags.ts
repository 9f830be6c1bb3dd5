/** What `divisi serve` is asked for: what `divisi run` is, without a question, and where to listen. */
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
    Flag.withDescription("Port (default 8080); 0 for a free one"),
    Flag.withDefault(8080)
  ),
  host: Flag.String("host").pipe(
    Flag.withMetavar("<address>"),
    Flag.withDescription("Address (default 127.0.0.1: this machine only)"),
    Flag.withDefault("127.0.0.1")
  ),
  notes: Flag.Literals("notes", ["off", "titles", "full"]).pipe(
    Flag.withDescription("Steps shown to clients: none, workers and subtasks (default), or all texts"),
    Flag.withDefault("titles" as const)
  ),
  fast: text(
    "fast",
    "<worker|policy>",
    "Worker or policy behind divisi-fast, such as router:half (default the cheapest language model of the pool)"
  ),
  policies: text(
    "policies",
    "<name,name>",
    "Policies that a request to divisi may name instead of its own, as in router:half,lexical (default none)"
  ),
  alias: Flag.String("alias").pipe(
    Flag.withMetavar("<name>=<model>"),
    Flag.withDescription("Another name for a model: gpt-4o=divisi; repeatable"),
    Flag.atLeast(0)
  ),
  allowOrigin: Flag.String("allow-origin").pipe(
    Flag.withMetavar("<origin>"),
    Flag.withDescription("A web page that may use the server: http://localhost:3000; repeatable (default none)"),
    Flag.atLeast(0)
  ),
  maxCost: cost("max-cost", "Maximum cost of one run, in USD; never exceeded"),
  maxTotalCost: cost(
    "max-total-cost",
    "Maximum cost of all runs, in USD; never exceeded. With --database: of all servers"
  ),
  timeout: timeout("Maximum duration of one segment of a run: 30s, 2m"),
  content: Flag.Literals("content", ["full", "none"]).pipe(
    Flag.withDescription(
      "Whether questions, answers and tool results are stored: full (default), or none, which holds runs in memory only"
    ),
    Flag.optional
  ),
  keep: age(
    "keep",
    "The retention period of stored runs, responses, outcomes and cached answers: older ones are removed at the start and each hour: 30d, at least 24h (default retention of the config, or no end; responses 30d)"
  ),
  keys: keys.pipe(
    Flag.withDescription(
      "The file of keys (default DIVISI_KEYS, or keys.json in your data folder); none for none. If it has keys, every request needs one"
    )
  ),
  database: database.pipe(
    Flag.withDescription(
      "The Postgres that several servers share: runs, keys, budgets and responses are in it instead of in files (default DIVISI_DATABASE, or serve.database of the config, or none), as in postgres://user@host/name; the password may be in PGPASSWORD"
    )
  ),
  printConfig: Flag.Literals("print-config", clients).pipe(
    Flag.withDescription("Print the configuration of a client for --host and --port, and exit"),
    Flag.optional
  ),
  json: toggle("json", "Log each request as a JSON line, without texts")
}

/** What `divisi serve` is asked for. */
export type ServeInput = Command.Command.Config.Infer<typeof flags>
