/** Flags that select the team: pool, prices, tools and policy. */
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import { config, text, toggle, whole } from "../invocation/flags.ts"
import * as Prices from "../vendors/Prices.ts"

/** Flags that select the workers. Also used by `divisi gym solve`. */
export const conductorFlags = {
  pool: text(
    "pool",
    "<ids>",
    "Workers of the team, in order, e.g. openai:gpt-5,ollama:qwen3:8b. Prefix ids with - to exclude workers: -a,-b"
  ),
  price: Flag.String("price").pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(Prices.parse(text)),
      () =>
        "Expected a price such as ollama:qwen3:8b=0, or my-server:model=0.5/1.5 (USD per million input and output tokens)"
    ),
    Flag.withMetavar("<prices>"),
    Flag.withDescription(
      "Prices, in USD per million input and output tokens, e.g. my-server:model=0.5/1.5,other=0. Required for --max-cost if a price is unknown. A price without an id applies to all workers without a known price"
    ),
    Flag.optional
  ),
  threads: whole("threads", 1).pipe(
    Flag.withDescription(
      "Threads per local model (default: DIVISI_THREADS, or one less than the number of cores). Fewer are used under load. For one model: llamacpp:model?threads=2"
    ),
    Flag.optional
  ),
  maxSteps: whole("max-steps", 1).pipe(
    Flag.withDescription("Maximum number of steps in a plan (default 5)"),
    Flag.optional
  ),
  recursion: whole("recursion", 0).pipe(
    Flag.withDescription(
      "Maximum number of extra rounds (default 0). In each, the policy sees its last plan and answer"
    ),
    Flag.optional
  ),
  cache: text("cache", "<file>", "File that caches the workers' answers"),
  config: config("Config to use")
}

/** `--profiles`. Also a flag of `divisi eval`. */
export const profiles = text(
  "profiles",
  "<folder>",
  "Evaluation or transcripts from which workers are described. Used by policies named <policy>+profiles"
)

const named = (name: string, description: string) => text(name, "<names>", description)

/** Flags that select the tools that workers may use. */
export const toolFlags = {
  tool: named(
    "tool",
    "Tools to use, from the config and MCP servers (default: all). A server's name selects all of its tools"
  ),
  noTools: toggle("no-tools", "Disable tools and MCP servers"),
  toolAccess: Flag.Literals("tool-access", ["last-step", "every-step", "policy", "none"]).pipe(
    Flag.withDescription("Steps that may use tools (default last-step). With policy, the steps selected by the plan"),
    Flag.optional
  ),
  mcp: Flag.String("mcp").pipe(
    Flag.withMetavar("<server>"),
    Flag.withDescription(
      "MCP server: a command with its arguments, or a URL. Prefix it with name= to name it. Repeatable"
    ),
    Flag.atLeast(0)
  ),
  approve: named("approve", "Tools that run without approval, by tool or server name; 'all' for every tool")
}
