/** `divisi serve`: one endpoint in front of the team, until it is stopped. */
import * as Baselines from "@divisi/core/Baselines"
import * as Budget from "@divisi/core/Budget"
import type { Journal } from "@divisi/core/Journal"
import { nearest } from "@divisi/core/Nearest"
import type { Policy } from "@divisi/core/Policy"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as DiskAccounts from "@divisi/files/DiskAccounts"
import * as DiskRecords from "@divisi/files/DiskRecords"
import * as UserFolders from "@divisi/files/UserFolders"
import type { NodeServer, RequestLog } from "@divisi/server"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ConfigFile from "../conductor/ConfigFile.ts"
import * as OwnOutcomes from "../conductor/OwnOutcomes.ts"
import * as PolicyName from "../conductor/PolicyName.ts"
import * as Profiles from "../conductor/Profiles.ts"
import * as RunOptions from "../conductor/RunOptions.ts"
import * as Services from "../conductor/Services.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"
import * as OpenTelemetry from "../invocation/OpenTelemetry.ts"
import { explain } from "../invocation/OptionalPackage.ts"
import * as KeyAccounts from "../key/KeyAccounts.ts"
import * as KeyFile from "../key/KeyFile.ts"
import * as Journals from "../runs/Journals.ts"
import { oneLine } from "../view/Line.ts"
import * as ClientConfig from "./ClientConfig.ts"
import type { ServeInput } from "./flags.ts"

/** How long what goes on may take to end once the server is stopped. */
const drainMillis = 30_000

const write = (line: string): void => void process.stdout.write(`${line}\n`)

// -------------------------------------------------------------------------------------------------------------------
// What is asked for
// -------------------------------------------------------------------------------------------------------------------

const aliasesOf = (given: ReadonlyArray<string>): Effect.Effect<Readonly<Record<string, string>>, Failure> => {
  const pairs = given.map((text) => /^([^=]+)=(.+)$/.exec(text.trim()))
  return pairs.some((pair) => pair === null)
    ? Effect.fail(usage("--alias takes a name and a model, as in --alias gpt-4o=divisi."))
    : Effect.succeed(Object.fromEntries(pairs.map((pair) => [pair![1], pair![2]])))
}

/** A worker by its id, or a policy by its name, as the router. */
const fastOf = (
  pool: WorkerPool.WorkerPool,
  named: Option.Option<string>
): Effect.Effect<Policy | undefined, Failure, Scope.Scope> => {
  const ids = WorkerPool.ids(pool)
  if (Option.isNone(named)) return Effect.succeed(undefined)
  if (ids.includes(named.value)) return Effect.succeed(Baselines.single(named.value))
  return Effect.mapError(PolicyName.resolve(named.value, pool), ({ message }) => {
    const meant = nearest(named.value, ids)
    return usage(
      meant === undefined
        ? `--fast: ${message} Or name a worker: ${ids.join(", ")}.`
        : `--fast: no worker and no policy is called "${named.value}". Did you mean ${meant}?`
    )
  })
}

/** What servers that go on with each other's runs share. */
const secretOf = Effect.mapError(
  Effect.map(Config.option(Config.Redacted("DIVISI_SECRET")), Option.getOrUndefined),
  ({ message }) => usage(`DIVISI_SECRET: ${message}`)
)

/** The gym's runs cost nothing to run again, so they are kept in memory unless a file is named. */
const journalOf = (input: ServeInput, isGym: boolean): Effect.Effect<Journal | undefined, Failure, Scope.Scope> =>
  isGym && Option.isNone(input.journal) ? Effect.succeed(undefined) : Journals.open(input.journal)

/** Responses are kept where runs are: in a file beside the journal that is named, or in one of your own. */
const responsesOf = Effect.fnUntraced(function* (
  { journal }: ServeInput,
  isGym: boolean
): Effect.fn.Return<NodeServer.Options["responses"], Failure, Scope.Scope> {
  if (isGym && Option.isNone(journal)) return undefined
  const file = Option.isSome(journal)
    ? `${journal.value}.responses`
    : yield* UserFolders.dataFile("responses.sqlite", "DIVISI_RESPONSES")
  return yield* Effect.mapError(DiskRecords.make({ file }), ({ message }) => failed(message))
})

/** Lets in who has a key, where there are keys. */
const authenticateOf = Effect.fnUntraced(function* (
  { Keys, ApiError }: typeof import("@divisi/server"),
  input: ServeInput
): Effect.fn.Return<NodeServer.Options["authenticate"], Failure, Scope.Scope> {
  if (Option.isSome(input.keys) && input.keys.value === "none") return undefined
  const file = yield* KeyFile.fileOf(input.keys)
  if ((yield* KeyFile.read(file)).length === 0) return undefined
  const accounts = yield* Effect.mapError(DiskAccounts.make(), ({ message }) => failed(message))
  const unusable = ({ message }: DiskAccounts.AccountsError) => new ApiError.ApiError({ kind: "server", message })
  return Keys.authenticate({
    find: yield* KeyFile.finder(file),
    ledger: (key, now) => Effect.mapError(KeyAccounts.open(accounts, key, now), unusable)
  })
})

/** Keeps ratings where `divisi rate` does. Nothing is learned of the gym's workers. */
const ratingsOf = ({ ApiError }: typeof import("@divisi/server"), isGym: boolean) =>
  Effect.gen(function* () {
    const file = yield* OwnOutcomes.file
    if (file === undefined || isGym) return undefined
    const keep = OwnOutcomes.rate(file, yield* OwnOutcomes.embedder)
    const unusable = ({ message }: Failure) => new ApiError.ApiError({ kind: "server", message })
    const keepRating: NodeServer.Options["keepRating"] = (transcript, rating) =>
      Effect.mapError(keep(transcript, rating), unusable)
    return keepRating
  })

// -------------------------------------------------------------------------------------------------------------------
// What is said
// -------------------------------------------------------------------------------------------------------------------

const question = '{"model":"divisi","messages":[{"role":"user","content":"How many minutes are there in 3 days?"}]}'

/** What to do next. */
const welcome = ({ url }: NodeServer.NodeServer, isGym: boolean, workers: number, hasKeys: boolean): string => {
  const team = isGym
    ? `the offline gym: ${workers} workers that compute their answers`
    : `${workers} worker${workers === 1 ? "" : "s"}`
  return [
    `Serving ${team}, at ${url}`,
    "",
    `  curl ${url}/chat/completions${hasKeys ? ' -H "Authorization: Bearer $KEY"' : ""} -d '${question}'`,
    "",
    `Clients of OpenAI's API: this base URL, ${hasKeys ? "a" : "any"} key, the model divisi. Others: divisi-fast, worker/<id>.`,
    hasKeys
      ? "Only those who have a key are let in: divisi key list."
      : "Without keys, only programs on this machine are answered: divisi key make <name>.",
    ...(isGym ? ["Real models: divisi serve --pool openai:gpt-5,ollama:qwen3:8b"] : []),
    "Ctrl-C stops it."
  ].join("\n")
}

const shortTime = (at: number): string => new Date(at).toISOString().slice(11, 19)

/** A request in a line. */
const lineOf = (entry: RequestLog.Entry, isPlay: boolean): string => {
  const { at, calls, costUsd, durationMillis, ending, isCut, model, owner, status, wire } = entry
  return oneLine(
    [
      shortTime(at),
      wire,
      model ?? "-",
      `${status}`,
      isCut ? "client left" : (ending ?? "-"),
      `${(durationMillis / 1000).toFixed(2)} s`,
      `${calls} call${calls === 1 ? "" : "s"}`,
      `${costUsd.toFixed(6)} USD${isPlay ? " of play money" : ""}`,
      owner ?? "-"
    ].join(" ")
  )
}

const jsonOf = ({ at, ...entry }: RequestLog.Entry): string =>
  JSON.stringify({ time: new Date(at).toISOString(), event: "request", ...entry })

// -------------------------------------------------------------------------------------------------------------------
// The server
// -------------------------------------------------------------------------------------------------------------------

const listening = Effect.fnUntraced(function* (input: ServeInput): Effect.fn.Return<void, Failure, Scope.Scope> {
  const Server = yield* Effect.tryPromise({
    try: () => import("@divisi/server"),
    catch: (error) => usage(`It cannot serve. ${explain(error)}`)
  })
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const profiles = Option.isNone(input.profiles) ? undefined : yield* Profiles.read(input.profiles.value)
  const { policy, pool, ...settings } = yield* RunOptions.resolve(config, input, { profiles })
  const isGym = RunOptions.isGym(config, input)
  const isPlay = WorkerPool.isPlay(pool)
  const ledger = Option.isNone(input.maxTotalCost) ? undefined : Budget.make({ costUsd: input.maxTotalCost.value })
  const authenticate = yield* authenticateOf(Server, input)
  const options: NodeServer.Options = {
    pool,
    policy,
    fast: yield* fastOf(pool, input.fast),
    aliases: yield* aliasesOf(input.alias),
    // Who computes answers calls no tools: what agents bring along is left out.
    settings: isGym ? { unsupported: "omit", ...settings } : settings,
    journal: yield* journalOf(input, isGym),
    responses: yield* responsesOf(input, isGym),
    ledger,
    authenticate,
    keepRating: yield* ratingsOf(Server, isGym),
    notes: input.notes,
    secret: yield* secretOf,
    port: input.port,
    host: input.host,
    log: (entry) => write(input.json ? jsonOf(entry) : lineOf(entry, isPlay))
  }
  const serving = Effect.scoped(
    Effect.gen(function* () {
      const server = yield* Effect.mapError(Server.NodeServer.make(options), ({ message }) => failed(message))
      write(
        input.json
          ? JSON.stringify({ time: new Date().toISOString(), event: "listening", url: server.url })
          : welcome(server, isGym, WorkerPool.size(pool), authenticate !== undefined)
      )
      const end = Effect.suspend(() => {
        const count = server.running()
        if (count > 0) process.stderr.write(`divisi: waiting for ${count} run${count === 1 ? "" : "s"} to end\n`)
        return server.drain(drainMillis)
      })
      return yield* Effect.onInterrupt(Effect.never, () => end)
    })
  )
  return yield* Services.provide(OpenTelemetry.traced(serving), { ...Services.of(config, input), isGym })
})

/** Serves until it is stopped; or prints what a client needs. */
export const serve = (input: ServeInput): Effect.Effect<void, Failure> =>
  Option.match(input.printConfig, {
    onNone: () => Effect.scoped(listening(input)),
    onSome: (client) => Effect.sync(() => write(ClientConfig.textOf(client, input.host, input.port)))
  })
