/**
 * Flags, subcommands and settings that people know from other command lines. Each is rejected by name, with the one to use
 * here. The rows were written from the documentation of those programs before any was tried.
 */
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { assert, describe, it } from "vitest"
import * as Cli from "../src/Cli.ts"
import * as ConfigSchema from "../src/config/ConfigSchema.ts"

const flags: Readonly<Record<string, string>> = {
  "--pool": "model models workers agents llm provider editor-model weak-model fallback-model",
  "--policy": "planner router strategy process",
  "--max-cost": "budget max-budget max-price max-budget-usd",
  "--max-output-tokens": "max-tokens max-completion-tokens",
  "--file": "input input-file prompt-file message-file read fragment attachment",
  "--json": "format output-format stream-json ndjson jsonl",
  "--transcript": "output save out",
  "--mcp": "mcp-config mcp-server",
  "--no-tools": "disable-tools",
  "--tool": "allowed-tools functions toolset",
  "--approve": "yes allow auto-approve yes-always tools-approve dangerously-skip-permissions",
  "--approve-plans": "confirm interactive",
  "--run-id": "session session-id thread-id conversation cid",
  "--durable": "persist save-run checkpoint",
  "--timeout": "deadline max-time time-limit request-timeout",
  "--cache": "cache-prompts use-cache",
  "--recursion": "max-rounds",
  "--quiet": "silent print extract",
  "--threads": "num-threads n-threads",
  "--silence": "idle-timeout stream-timeout",
  "--reassign": "fallback fallbacks",
  "--check": "guardrail test-cmd lint-cmd"
}

const subcommands: Readonly<Record<string, string>> = {
  run: "ask exec query prompt complete generate answer start kickoff",
  runs: "list ls history logs sessions threads traces resume conversations transcripts",
  serve: "server proxy dev up api listen gateway",
  studio: "ui playground dashboard web view",
  init: "new create setup configure config scaffold",
  models: "model pull download show ps",
  eval: "test evaluate evals",
  train: "finetune fine-tune compile optimize",
  key: "keys auth login token",
  pool: "workers agents team",
  rate: "feedback",
  doctor: "check info status diagnose health env",
  chat: "repl shell tui interactive",
  replay: "play",
  provider: "plugin plugins",
  workflow: "plan graph",
  bench: "benchmark"
}

const settings: Readonly<Record<string, string>> = {
  pool: "models workers agents model modelList llm",
  policy: "planner router strategy routing_strategy router_settings",
  mcpServers: "mcp mcp_servers",
  "budget.costUsd": "maxCost max_budget",
  "budget.durationMillis": "timeout request_timeout",
  "worker.temperature": "temperature",
  "worker.maxOutputTokens": "maxTokens",
  "retry.maxAttempts": "maxRetries num_retries",
  prices: "pricing",
  "serve.aliases": "aliases modelAliases model_group_alias",
  "serve.origins": "cors",
  limits: "rpm tpm rate_limits",
  reassign: "fallbacks default_fallbacks context_window_fallbacks",
  cache: "cache_params",
  unsupported: "drop_params",
  "serve.database": "database_url",
  checks: "guardrails",
  "worker.reasoning": "reasoning_effort thinking"
}

const rowsOf = (habits: Readonly<Record<string, string>>) =>
  Object.entries(habits).flatMap(([ours, names]) => names.split(" ").map((theirs) => [theirs, ours] as const))

const platform = Layer.provideMerge(
  NodeChildProcessSpawner.layer,
  Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeStdio.layer, NodeTerminal.layer)
)

/** Returns the first line of what a wrong command line prints. */
const told = async (args: ReadonlyArray<string>): Promise<string> => {
  const lines: Array<unknown> = []
  const console = { ...globalThis.console, error: (line: unknown) => void lines.push(line) }
  await Effect.runPromise(
    Effect.exit(
      Cli.run(args).pipe(Effect.provideService(Console.Console, console as Console.Console), Effect.provide(platform))
    )
  )
  return String(lines[0]).split("\n", 1)[0]!
}

describe("a name from habit is rejected with ours", () => {
  it.each(rowsOf(flags))("the flag --%s", async (theirs, ours) =>
    assert.strictEqual(
      await told(["run", "2+2", `--${theirs}`, "x"]),
      `divisi: Unknown flag --${theirs}. Did you mean ${ours}?`
    )
  )

  it.each(rowsOf(subcommands))("the subcommand %s", async (theirs, ours) =>
    assert.strictEqual(await told([theirs, "x"]), `divisi: Unknown subcommand "${theirs}". Did you mean ${ours}?`)
  )

  it.each(rowsOf(settings))("the setting %s", (theirs, ours) => {
    const checked = ConfigSchema.check({ [theirs]: {} })
    assert.deepStrictEqual(checked, Result.fail(`${theirs}: unknown setting (did you mean ${ours}?)`))
  })

  it("a flag that the command does not have gets no hint", async () =>
    assert.strictEqual(await told(["replay", "x", "--max-tokens", "1"]), "divisi: Unknown flag --max-tokens."))
})
