/** Flags that select the team: pool, prices, tools and policy. Each command lists the flags used most often first. */
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import { choice, config, duration, large, names, seed, text, toggle, whole } from "../invocation/flags.ts"
import * as Prices from "../vendors/Prices.ts"

/** Flags that select the workers. Also used by `divisi gym solve`. */
export const conductorFlags = {
  pool: names(
    "pool",
    "<ids>",
    "Workers in the team, e.g. openai:gpt-6.1-sol,ollama:qwen3:8b. To exclude workers, prefix their ids with -, e.g. -a,-b"
  ),
  price: Flag.String("price").pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(Prices.parse(text)),
      () =>
        "Expected a price such as ollama:qwen3:8b=0, or my-server:model=0.5/1.5 (USD per million input and output tokens)"
    ),
    Flag.withMetavar("<prices>"),
    Flag.withDescription(
      "Prices as <model>=<input>/<output>, in USD per million tokens. Examples: home:my-model=0.5/1.5,ollama:qwen3:8b=0. A cost limit needs a price for every worker. A price without an id applies to all workers without a known price"
    ),
    Flag.optional
  ),
  threads: whole("threads", 1).pipe(
    Flag.withDescription(
      "Threads per local model. Default: DIVISI_THREADS, or one less than the number of cores, and fewer while other programs use them. For one model: llamacpp:model?threads=2"
    ),
    Flag.optional
  ),
  maxSteps: whole("max-steps", 1).pipe(
    Flag.withDescription("Maximum number of steps in a plan (default 5)"),
    Flag.optional
  ),
  recursion: whole("recursion", 0).pipe(
    Flag.withDescription(
      "Maximum number of extra rounds after the first plan (default 0). In each, the policy sees its last plan and answer"
    ),
    Flag.optional
  ),
  cache: text("cache", "<file>", "File in which to cache the workers' answers"),
  config: config("Config file to use")
}

/** `--profiles`. Also a flag of `divisi eval`. */
export const profiles = text(
  "profiles",
  "<folder>",
  "Folder of evaluation results or transcripts, for policies that compare workers by results, e.g. lexical+profiles. Any policy with the suffix +profiles sees these results instead of the workers' descriptions"
)

const { config: ownConfig, maxSteps, pool, ...moreConductorFlags } = conductorFlags

/** The most used flags of commands that run a team. */
export const teamFlags = {
  pool,
  policy: text(
    "policy",
    "<name>",
    "Policy that plans the run, e.g. lexical, single:<id> or openai:gpt-6.1-terra. Default: the strongest model of the pool plans, or answers the question itself if it is easy; after `divisi learn`, router. With the built-in demo workers (the gym), the default is lexical. Chat models as planners: openai:gpt-6.1-terra, or model:<id> for a model in the pool. Other planners: lexical (matches workers' descriptions), conductor (a trained model that reads descriptions), tiny (a small model for the gym's workers), ./<file>.ts (your own). One worker per question: router (the strongest, or the best by your ratings), router:half (the best for at most half the cost), router:within-2 (the cheapest within 2 points of the best), learned (only by your ratings), head and head:<file> (a trained classifier), single:<id>, best-single (the gym's best), random. Several answers: best-of:<n> (a judge chooses), self-consistency:<n> (the most frequent one), self-reflection:<n> (the worker reviews its own), moa (one worker combines the answers of all), checked:<first>+<then>+<check> (the second worker only if the check fails; check: schema:<file>, command:<command>, grader, or a judge worker), agreed:<a>+<b>+<otherwise> (the third worker only if the first two disagree)"
  ),
  maxSteps,
  tool: names(
    "tool",
    "<names>",
    "Tools to use, from the config and MCP servers (default: all). A server's name selects all of its tools"
  ),
  mcp: Flag.String("mcp").pipe(
    Flag.withMetavar("<server>"),
    Flag.withDescription(
      "MCP server: a command with its arguments, or a URL. Prefix it with name= to name it. Repeatable"
    ),
    Flag.atLeast(0)
  ),
  approvePlans: toggle(
    "approve-plans",
    "Run a plan only after a person approves it and its price. Without a terminal, the run is suspended; `divisi serve` sends the plan to clients as a call to a tool named `plan`"
  ),
  check: Flag.String("check").pipe(
    Flag.withMetavar("<name=check>"),
    Flag.withDescription(
      "Define a check for answers, e.g. tests=command:<command> or form=schema:<file>. Plans can apply it. <name>=grader compares with the reference answer (only in the gym and in evaluations), <name>=<id> uses a worker as a judge. If exactly one check is defined, --policy router applies it to each answer, and calls another worker if the answer fails. Repeatable"
    ),
    Flag.atLeast(0)
  ),
  config: ownConfig
}

/** The other flags of commands that run a team. */
export const moreTeamFlags = {
  ...moreConductorFlags,
  reassign: choice("reassign", ["next", "never"]).pipe(
    Flag.withDescription(
      "If a step fails: next (the next worker in the pool takes over) or never (default next; never with --policy single:<id>)"
    ),
    Flag.optional
  ),
  profiles,
  seed,
  maxOutputTokens: large("max-output-tokens", 1).pipe(
    Flag.withDescription("Maximum tokens per answer, including reasoning (default: the worker's limit)"),
    Flag.optional
  ),
  silence: duration(
    "silence",
    "Retry a call that produces no output for this long, e.g. 20s (default: a third of --timeout; no limit without --timeout)"
  ),
  noTools: toggle("no-tools", "Disable tools and MCP servers"),
  toolAccess: choice("tool-access", ["last-step", "every-step", "policy", "none"]).pipe(
    Flag.withDescription('Steps that may use tools (default last-step). With "policy", the plan selects them'),
    Flag.optional
  ),
  approve: names("approve", "<names>", 'Tools that run without approval, by tool or server name; "all" for every tool')
}
