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
    Flag.withDescription("The port to listen on (default 8080); 0 for any that is free"),
    Flag.withDefault(8080)
  ),
  host: Flag.String("host").pipe(
    Flag.withMetavar("<address>"),
    Flag.withDescription("The address to listen on (default 127.0.0.1, which only this machine reaches)"),
    Flag.withDefault("127.0.0.1")
  ),
  notes: Flag.Literals("notes", ["off", "titles", "full"]).pipe(
    Flag.withDescription("What clients are shown of the work: nothing, who does what (default), or all that is said"),
    Flag.withDefault("titles" as const)
  ),
  fast: text(
    "fast",
    "<worker|policy>",
    "What divisi-fast is: a worker, or a policy such as router:half (default the cheapest language model of the pool)"
  ),
  policies: text(
    "policies",
    "<name,name>",
    "Policies that a request to divisi may name instead of its own, as in router:half,lexical (default none)"
  ),
  alias: Flag.String("alias").pipe(
    Flag.withMetavar("<name>=<model>"),
    Flag.withDescription("Another name for a model, as in gpt-4o=divisi; may be given several times"),
    Flag.atLeast(0)
  ),
  allowOrigin: Flag.String("allow-origin").pipe(
    Flag.withMetavar("<origin>"),
    Flag.withDescription(
      "A web page that may use the server, as in http://localhost:3000; may be given several times (default none)"
    ),
    Flag.atLeast(0)
  ),
  maxCost: cost("max-cost", "The most that one run may cost, in USD; never exceeded"),
  maxTotalCost: cost(
    "max-total-cost",
    "The most that all runs together may cost, in USD; never exceeded. With --database: those of all servers"
  ),
  timeout: timeout("The longest that one segment of a run may take: 30s, 2m"),
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
      "The file that keeps keys (default DIVISI_KEYS, or keys.json in your data folder); none for none. Where it has keys, only they are let in"
    )
  ),
  database: database.pipe(
    Flag.withDescription(
      "The Postgres that several servers share: runs, keys, budgets and responses are in it instead of in files (default DIVISI_DATABASE, or serve.database of the config, or none), as in postgres://user@host/name; the password may be in PGPASSWORD"
    )
  ),
  printConfig: Flag.Literals("print-config", clients).pipe(
    Flag.withDescription("Print what a client needs to use a server at --host and --port, and serve nothing"),
    Flag.optional
  ),
  json: toggle("json", "Log each request as a line of JSON, without what was asked or answered")
}

/** What `divisi serve` is asked for. */
export type ServeInput = Command.Command.Config.Infer<typeof flags>
