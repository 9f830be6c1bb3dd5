/** Names of flags, subcommands and settings in other programs, grouped by the name used here. */

const flags = {
  benchmark: "data dataset datasets file files questions tasks eval-data test-set",
  pool: "model models workers agents llm provider editor-model weak-model fallback-model",
  policy: "planner router strategy process",
  "max-cost": "budget max-budget max-price max-budget-usd",
  "max-output-tokens": "max-tokens max-completion-tokens",
  file: "input input-file prompt-file message-file read fragment attachment",
  json: "format output-format stream-json ndjson jsonl",
  transcript: "output save out",
  mcp: "mcp-config mcp-server",
  "no-tools": "disable-tools",
  tool: "allowed-tools functions toolset",
  approve: "yes allow auto-approve yes-always tools-approve dangerously-skip-permissions",
  "approve-plans": "confirm interactive",
  "run-id": "id session session-id thread-id conversation cid",
  durable: "persist save-run checkpoint",
  timeout: "deadline max-time time-limit request-timeout",
  cache: "cache-prompts use-cache",
  recursion: "max-rounds",
  quiet: "silent print extract",
  threads: "num-threads n-threads",
  silence: "idle-timeout stream-timeout",
  reassign: "fallback fallbacks",
  check: "guardrail test-cmd lint-cmd"
}

const subcommands = {
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

const settings = {
  pool: "models workers agents model modelList llm",
  policy: "planner router strategy routingStrategy routerSettings",
  mcpServers: "mcp",
  prices: "pricing",
  "budget.costUsd": "maxCost maxBudget",
  "budget.durationMillis": "timeout requestTimeout",
  "worker.maxOutputTokens": "maxTokens",
  "retry.maxAttempts": "maxRetries numRetries",
  "serve.aliases": "aliases modelAliases modelGroupAlias",
  "serve.content": "content",
  "serve.database": "database databaseUrl",
  "serve.origins": "cors",
  "worker.reasoning": "reasoningEffort thinking",
  limits: "rpm tpm rateLimits",
  reassign: "fallbacks defaultFallbacks contextWindowFallbacks",
  unsupported: "dropParams",
  checks: "guardrails"
}

/** Removes what spellings differ in: `max_budget`, `max-budget` and `maxBudget` are the same name. */
const bare = (name: string): string => name.toLowerCase().replace(/[-_]/g, "")

const lookUp =
  (names: Readonly<Record<string, string>>) =>
  (name: string): string | undefined =>
    Object.keys(names).find((ours) => names[ours]!.split(" ").some((theirs) => bare(theirs) === bare(name)))

/** Returns the flag, without dashes, that a name in another program means. */
export const flag = lookUp(flags)

/** Returns the subcommand that a name in another program means. */
export const subcommand = lookUp(subcommands)

/** Returns the setting that a name in another program means. */
export const setting = lookUp(settings)
