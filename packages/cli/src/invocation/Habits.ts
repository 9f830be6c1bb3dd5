/** Names of flags, subcommands and settings in other programs, by the names used here. */

const flags = {
  pool: "model models workers agents llm provider",
  policy: "planner router strategy process",
  "max-cost": "budget max-budget max-price max-budget-usd",
  "max-output-tokens": "max-tokens max-completion-tokens",
  file: "input input-file prompt-file",
  json: "format output-format stream-json",
  transcript: "output save out",
  mcp: "mcp-config mcp-server",
  "no-tools": "disable-tools",
  tool: "allowed-tools functions",
  approve: "yes allow auto-approve",
  "approve-plans": "confirm interactive",
  "run-id": "session session-id thread-id",
  durable: "persist save-run"
}

const subcommands = {
  run: "ask exec query prompt complete generate answer start kickoff",
  runs: "list ls history logs sessions threads traces resume",
  serve: "server proxy dev up api listen gateway",
  studio: "ui playground dashboard web view",
  init: "new create setup configure config scaffold",
  models: "model pull download",
  eval: "test evaluate evals",
  train: "finetune fine-tune compile optimize",
  key: "keys auth login token",
  pool: "workers agents team",
  rate: "feedback",
  doctor: "check info status"
}

const settings = {
  pool: "models workers agents model modelList llm",
  policy: "planner router strategy",
  mcpServers: "mcp",
  prices: "pricing",
  "budget.costUsd": "maxCost maxBudget",
  "budget.durationMillis": "timeout",
  "worker.maxOutputTokens": "maxTokens",
  "retry.maxAttempts": "maxRetries numRetries",
  "serve.aliases": "aliases modelAliases",
  "serve.content": "content",
  "serve.database": "database",
  "serve.origins": "cors"
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
