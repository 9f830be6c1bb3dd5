/** The flags that choose who answers: pool, prices, tools and what plans. */
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import { config, text, toggle, whole } from "../invocation/flags.ts"
import * as Prices from "../vendors/Prices.ts"

/** The flags that choose who answers; `divisi gym solve` has them, too. */
export const conductorFlags = {
  pool: text(
    "pool",
    "<ids>",
    "Workers to use, in this order: a,b,c, or openai:gpt-5,ollama:qwen3:8b. All but some: -a,-b"
  ),
  price: Flag.String("price").pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(Prices.parse(text)),
      () => "Expected a price such as ollama:qwen3:8b=0, or my-server:model=0.5/1.5 (USD per million tokens in and out)"
    ),
    Flag.withMetavar("<prices>"),
    Flag.withDescription(
      "What workers cost, in USD per million tokens in and out, so that --max-cost can be kept: my-server:model=0.5/1.5,other=0; without an id, all whose price is unknown"
    ),
    Flag.optional
  ),
  threads: whole("threads", 1).pipe(
    Flag.withDescription(
      "The threads of each local model (default DIVISI_THREADS, or one less than the cores, and fewer while other programs use them). Of one model: llamacpp:model?threads=2"
    ),
    Flag.optional
  ),
  maxSteps: whole("max-steps", 1).pipe(Flag.withDescription("The most steps of a plan (default 5)"), Flag.optional),
  recursion: whole("recursion", 0).pipe(
    Flag.withDescription(
      "The most extra rounds, in which the policy sees its last plan and what came of it (default 0)"
    ),
    Flag.optional
  ),
  cache: text(
    "cache",
    "<file>",
    "Keep workers' answers in this file, and take them from there instead of paying again"
  ),
  config: config("The config to use")
}

/** `--profiles`; `divisi eval` has it, too. */
export const profiles = text(
  "profiles",
  "<folder>",
  "What policies named name+profiles are shown of workers, as in lexical+profiles: the folder of an evaluation, or of transcripts"
)

const named = (name: string, description: string) => text(name, "<names>", description)

/** The flags that say which tools workers may use. */
export const toolFlags = {
  tool: named(
    "tool",
    "Tools to use, of the config and of MCP servers: a,b, all of a server by its name; by default all"
  ),
  noTools: toggle("no-tools", "Use no tools, and start no MCP servers"),
  toolAccess: Flag.Literals("tool-access", ["last-step", "every-step", "policy", "none"]).pipe(
    Flag.withDescription("Which steps may use tools (default last-step; policy: those that the plan names)"),
    Flag.optional
  ),
  mcp: Flag.String("mcp").pipe(
    Flag.withMetavar("<server>"),
    Flag.withDescription(
      "An MCP server to use: a command with its arguments, or a URL; name=... gives it a name. Repeatable"
    ),
    Flag.atLeast(0)
  ),
  approve: named("approve", "Tools that run without a question, by their names or their server's; all for all")
}
