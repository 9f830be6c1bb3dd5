/** Flags that several commands share, and what they accept. */

import * as Config from "effect/Config"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as Prices from "../conductor/Prices.ts"

/** A description of several lines, as help sets it. */
export const paragraphs = (...lines: ReadonlyArray<string>): string => lines.join("\n  ").replaceAll("\n  \n", "\n\n")

/** A whole number of at least `least`. */
export const whole = (name: string, least: number) =>
  Flag.Int(name).pipe(
    Flag.filter(
      (value) => value >= least && value <= Number.MAX_SAFE_INTEGER,
      () => `Expected a whole number of at least ${least}`
    )
  )

/** A flag that is on or off; off by default. */
export const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDefault(false), Flag.withDescription(description))

/** The seed of everything random. */
export const seed = whole("seed", 0).pipe(
  Flag.withDescription("Seed of everything random; the same seed gives the same run"),
  Flag.optional
)

const units = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 } as const

/** A duration such as `500ms`, `30s`, `2m` or `1h` in milliseconds; `undefined` when it is none. */
export const parseDuration = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|m|min|h)$/.exec(text.trim())
  const millis = match === null ? 0 : Number(match[1]) * units[match[2] as keyof typeof units]
  return millis > 0 && millis < 2 ** 31 ? millis : undefined
}

const ageUnits = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** An age such as `30m`, `12h` or `7d` in milliseconds; `undefined` when it is none. */
export const parseAge = (text: string): number | undefined => {
  const match = /^(\d+)([smhd])$/.exec(text.trim())
  return match === null ? undefined : Number(match[1]) * ageUnits[match[2] as keyof typeof ageUnits]
}

/** An age, as days and hours. */
export const age = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parseAge(text)),
      () => "Expected an age such as 30m, 12h or 7d"
    ),
    Flag.withMetavar("<age>"),
    Flag.withDescription(description),
    Flag.optional
  )

/** `--config`, with what the config is asked for. */
export const config = (description: string) =>
  Flag.String("config").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription(
      `${description}; by default DIVISI_CONFIG, or the next divisi.config.ts (.mts, .js, .mjs, .cts, .cjs) from here upwards; none for none`
    ),
    Flag.withFallbackConfig(Config.String("DIVISI_CONFIG")),
    Flag.optional
  )

/** The flags that choose who answers; `divisi gym solve` has them, too. */
export const conductorFlags = {
  pool: Flag.String("pool").pipe(
    Flag.withMetavar("<ids>"),
    Flag.withDescription("Workers to use, in this order: a,b,c, or openai:gpt-5,ollama:qwen3:8b. All but some: -a,-b"),
    Flag.optional
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
  cache: Flag.String("cache").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription("Keep workers' answers in this file, and take them from there instead of paying again"),
    Flag.optional
  ),
  config: config("The config to use")
}

/** `--profiles`; `divisi eval` has it, too. */
export const profiles = Flag.String("profiles").pipe(
  Flag.withMetavar("<folder>"),
  Flag.withDescription(
    "What policies named name+profiles are shown of workers, as in lexical+profiles: the folder of an evaluation, or of transcripts"
  ),
  Flag.optional
)

/** A duration, in milliseconds. */
export const duration = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parseDuration(text)),
      () => "Expected a duration such as 500ms, 30s, 2m or 1h"
    ),
    Flag.withMetavar("<duration>"),
    Flag.withDescription(description),
    Flag.optional
  )

/** `--timeout`, in milliseconds. */
export const timeout = (description: string) => duration("timeout", description)

/** An amount of USD. */
export const cost = (name: string, description: string) =>
  Flag.Finite(name).pipe(
    Flag.filter(
      (value) => value >= 0,
      () => "Expected a cost in USD of at least 0"
    ),
    Flag.withMetavar("<usd>"),
    Flag.withDescription(description),
    Flag.optional
  )

const named = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar("<names>"), Flag.withDescription(description), Flag.optional)

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
