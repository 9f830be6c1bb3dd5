/** `divisi mcp`: serves a Conductor as an MCP server over standard input and output. */
import { Budget } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ConfigFile from "../config/ConfigFile.ts"
import { type Failure, usage } from "../invocation/Failure.ts"
import { explain } from "../invocation/OptionalPackage.ts"
import { stdout } from "../invocation/Output.ts"
import * as Services from "../stores/Services.ts"
import * as Profiles from "../team/Profiles.ts"
import * as RunOptions from "../team/RunOptions.ts"
import type { McpInput } from "./flags.ts"

/** Wraps a Conductor so that all of its runs are charged to one account. */
const onAccount = (conductor: Conductor.Conductor["Service"], ledger: Budget.Ledger) =>
  Conductor.Conductor.of({ ...conductor, run: (task, options) => conductor.run(task, { ...options, ledger }) })

const serve = Effect.fnUntraced(function* (input: McpInput): Effect.fn.Return<void, Failure, Scope.Scope> {
  const ConductorServer = yield* Effect.tryPromise({
    try: () => import("@divisi/tools-mcp/ConductorServer"),
    catch: (error) => usage(`Cannot start the MCP server. ${explain(error)}`)
  })
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const profiles = Option.isNone(input.profiles) ? undefined : yield* Profiles.read(input.profiles.value)
  const options = yield* RunOptions.resolve(config, input, { profiles })
  const isGym = RunOptions.isGym(config, input)
  const ledger = Budget.make({ costUsd: Option.getOrUndefined(input.maxTotalCost) })
  const conductor = onAccount(Conductor.make(options), ledger)
  if (process.stdin.isTTY === true) {
    process.stderr.write(
      "divisi: waiting for an MCP client on standard input. Usually, the client starts this command. Press Ctrl-C to stop.\n"
    )
  }
  const offered = { conductor, description: Option.getOrUndefined(input.description) }
  const serving = ConductorServer.stdio(offered, { input: process.stdin, output: stdout })
  yield* Services.provide(serving, { ...Services.of(config, input), isGym })
})

/** Serves until the client disconnects. */
export const mcp = (input: McpInput): Effect.Effect<void, Failure> => Effect.scoped(serve(input))
