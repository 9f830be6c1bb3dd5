/** Flags for `divisi cluster`. */
import * as Argument from "effect/cli/Argument"
import type * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import { age, config, cost, text, timeout, toggle, whole } from "../invocation/flags.ts"
import { moreTeamFlags, teamFlags } from "../team/flags.ts"

const database = Flag.Redacted("database").pipe(
  Flag.withMetavar("<url>"),
  Flag.withDescription(
    "Postgres database shared by the machines, e.g. postgres://user@host/name. Default: DIVISI_DATABASE, or serve.database in the config. The password can be set in PGPASSWORD"
  ),
  Flag.optional
)

const versionGroup = Flag.String("version-group").pipe(
  Flag.filter(
    (name) => /^[a-z0-9_]{1,20}$/.test(name),
    () => "Expected at most 20 lowercase letters, digits and _"
  ),
  Flag.withMetavar("<name>"),
  Flag.withDescription(
    "Group of servers and runs; servers execute only the runs of their own group. This separates old and new versions during a deployment"
  ),
  Flag.optional
)

/** Flags that select the database. */
const place = { database, versionGroup, config: config("Config that sets the database URL") }

/** Parses an address such as 10.0.0.7:9100. Returns `undefined` if it is invalid. */
const parseAddress = (text: string) => {
  const match = /^(\[[0-9a-f:]+\]|[^:\s/]+):(\d{1,5})$/i.exec(text)
  if (match === null || Number(match[2]) > 65_535) return undefined
  return { host: match[1]!, port: Number(match[2]) }
}

/** Parses a time with its zone to milliseconds since 1970. Returns `undefined` if it is invalid. */
const parseTime = (text: string): number | undefined => {
  const millis = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})$/.test(text)
    ? Date.parse(text)
    : Number.NaN
  return Number.isNaN(millis) ? undefined : millis
}

export const workFlags = {
  ...teamFlags,
  database,
  versionGroup,
  address: Flag.String("address").pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parseAddress(text)),
      () => "Expected host:port, e.g. 10.0.0.7:9100"
    ),
    Flag.withMetavar("<host:port>"),
    Flag.withDescription(
      "Address at which other servers reach this one (default 127.0.0.1:9100). Connections are not authenticated, so use a private network"
    ),
    Flag.withDefault({ host: "127.0.0.1", port: 9_100 })
  ),
  listen: text(
    "listen",
    "<host>",
    "Local address to listen on, if different from --address, e.g. 0.0.0.0 in a container"
  ),
  healthPort: whole("health-port", 1, 65_535).pipe(
    Flag.withDescription("HTTP port for /health/live, /health/ready and /metrics (default: none)"),
    Flag.optional
  ),
  kubernetes: text(
    "kubernetes",
    "<namespace>",
    "Detect failed servers by pod readiness in this Kubernetes namespace (default: by ping). --address must then contain the pod's IP address"
  ),
  concurrency: whole("concurrency", 1).pipe(
    Flag.withDescription("Maximum number of concurrent runs; others wait (default 50)"),
    Flag.withDefault(50)
  ),
  keep: age(
    "keep",
    "Delete stored data older than this, on startup and hourly, e.g. 30d. Applies to runs, their messages, responses, outcomes and cached answers. Default: retention in the config, or never"
  ),
  maxCost: cost("max-cost", "Maximum cost of one run, in USD; never exceeded"),
  maxTotalCost: cost(
    "max-total-cost",
    "Maximum cost of all runs, in USD, on all servers together; never exceeded, even after restarts. If the servers have different limits, that of the server started last applies"
  ),
  timeout: timeout("Maximum duration of one run, e.g. 30s or 2m"),
  ...moreTeamFlags
}

/** Parsed flags of `divisi cluster work`. */
export type WorkInput = Command.Command.Config.Infer<typeof workFlags>

const run = Argument.String("run").pipe(Argument.withDescription("Id of a run"))

export const submitFlags = {
  ...place,
  question: Argument.String("question").pipe(Argument.withDescription("The question")),
  runId: text("run-id", "<id>", "Id of the run (default: random). If the run already exists, nothing is submitted"),
  at: Flag.String("at").pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parseTime(text)),
      () => "Expected a time with a time zone, e.g. 2026-12-01T06:00:00Z"
    ),
    Flag.withMetavar("<time>"),
    Flag.withDescription("Start the run at this time, e.g. 2026-12-01T06:00:00Z (default: now)"),
    Flag.optional
  ),
  follow: toggle("follow", "Wait for the answer and print it")
}

/** Parsed flags of `divisi cluster submit`. */
export type SubmitInput = Command.Command.Config.Infer<typeof submitFlags>

export const runFlags = { ...place, run }

/** Parsed flags of the commands for a single run. */
export type RunInput = Command.Command.Config.Infer<typeof runFlags>

export const statusFlags = { ...place, json: toggle("json", "Print the status as JSON") }

/** Parsed flags of `divisi cluster status`. */
export type StatusInput = Command.Command.Config.Infer<typeof statusFlags>

export const placeFlags = place

/** Parsed flags of commands with only the database flags. */
export type PlaceInput = Command.Command.Config.Infer<typeof placeFlags>

export const drainFlags = {
  ...place,
  address: Argument.String("address").pipe(
    Argument.withDescription("Host and port of the server, as shown by `divisi cluster status`")
  )
}

/** Parsed flags of `divisi cluster drain`. */
export type DrainInput = Command.Command.Config.Infer<typeof drainFlags>

export const purgeFlags = { ...place, olderThan: age("older-than", "Minimum age of the data to remove (default 90d)") }

/** Parsed flags of `divisi cluster purge`. */
export type PurgeInput = Command.Command.Config.Infer<typeof purgeFlags>
