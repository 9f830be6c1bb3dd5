/**
 * Generates shell completion scripts. Effect generates the completions for commands and flags; this module adds the
 * values of flags and arguments.
 */
import * as CommandCompletions from "effect/cli/Completions"

type Values = CommandCompletions.FlagType

/** Values to complete, by kind. */
interface Known {
  readonly models: ReadonlyArray<string>
  readonly localModels: ReadonlyArray<string>
  readonly workers: ReadonlyArray<string>
  readonly recipes: ReadonlyArray<string>
  readonly benchmarks: ReadonlyArray<string>
  readonly baselines: ReadonlyArray<string>
  readonly families: ReadonlyArray<string>
}

const choice = (...values: ReadonlyArray<string>): Values => ({ _tag: "Choice", values })

const file: Values = { _tag: "Path", pathType: "file" }

const folder: Values = { _tag: "Path", pathType: "directory" }

/** Policy names. Policies that take a count are listed with typical values. */
const policies = [
  "conductor",
  "tiny",
  "lexical",
  "best-single",
  "random",
  "best-of:3",
  "self-consistency:5",
  "self-reflection:3",
  "moa"
] as const

const paperPools = ["paper:controlled", "paper:unconstrained"] as const

const graders = [
  "math",
  "math500",
  "letter",
  "letter-paper",
  "integer",
  "aime",
  "rlpr-strict",
  "rlpr-paper",
  "text",
  "livecodebench",
  "bigcodebench"
] as const

/**
 * Returns completion values by flag or argument name. A name with a different meaning in one command is prefixed with
 * that command.
 */
const valuesOf = (known: Known): Readonly<Record<string, Values>> => {
  const models = [...known.models, ...known.localModels.map((name) => `llamacpp:${name}`)]
  const measured = [...policies, ...known.workers.map((id) => `single:${id}`), "oracle", ...models]
  return {
    pool: choice(...models, ...paperPools, ...known.workers),
    policy: choice(...policies, ...known.workers.map((id) => `single:${id}`), ...models),
    "gym solve policy": choice("all", ...measured),
    "eval policy": choice(...measured),
    recipe: choice(...known.recipes),
    engine: choice("jax", "tinker", "toy"),
    benchmark: choice(...known.benchmarks),
    learn: choice(...known.benchmarks),
    baselines: choice(...known.baselines),
    grader: choice(...graders),
    sandbox: choice("pyodide", "bubblewrap", "local-unsafe"),
    reasoning: choice("off", "minimal", "low", "medium", "high"),
    family: choice(...known.families),
    split: choice("train", "validation", "test"),
    checkpoint: choice("best", "last"),
    timeout: choice("30s", "2m", "10m"),
    "models inspect model": choice(...known.localModels),
    "models download model": choice(...known.localModels),
    "models remove model": choice(...known.localModels),
    config: file,
    cache: file,
    file,
    ids: file,
    trained: file,
    transcript: file,
    profiles: folder,
    offline: folder,
    out: file,
    directory: folder,
    run: folder,
    "train out": folder,
    "eval out": folder,
    "eval regrade folder": folder,
    "eval export folder": folder,
    "eval diff first": folder,
    "eval diff second": folder
  }
}

/** Collects the values to complete. Packages that are not installed are skipped. */
const know = async (): Promise<Known> => {
  const [Effect, Catalog, { recipes }, OfflineGym, { Benchmarks }, Baselines] = await Promise.all([
    import("effect/Effect"),
    import("../vendors/Catalog.ts"),
    import("@divisi/recipes"),
    import("../team/OfflineGym.ts"),
    import("@divisi/evals"),
    import("@divisi/evals").then(({ Baselines }) => Baselines)
  ])
  const local = await import("@divisi/policy-llamacpp").then(
    ({ knownModels }) => knownModels.map(({ name }) => name),
    () => []
  )
  const listed = await Effect.runPromise(Catalog.models)
  return {
    models: listed.map(({ name }) => name),
    localModels: local,
    workers: OfflineGym.pool().workers.map(({ id }) => id),
    recipes: Object.keys(recipes),
    benchmarks: ["gym", ...Benchmarks.names],
    baselines: Baselines.table.map(({ name }) => name),
    families: OfflineGym.families
  }
}

type Described = CommandCompletions.CommandDescriptor

/** Adds values to a command's flags and arguments, unless Effect already provides some. */
const filled = (
  command: Described,
  path: ReadonlyArray<string>,
  values: Readonly<Record<string, Values>>
): Described => {
  const fill = <A extends { readonly name: string; readonly type: Values }>(one: A): A => {
    const found = values[[...path, one.name].join(" ")] ?? (path[0] === "workflow" ? undefined : values[one.name])
    return one.type._tag === "String" && found !== undefined ? { ...one, type: found } : one
  }
  return {
    ...command,
    flags: command.flags.map(fill),
    arguments: command.arguments.map((one) => (path[0] === "workflow" ? { ...one, type: file } : fill(one))),
    subcommands: command.subcommands.map((inner) => filled(inner, [...path, inner.name], values))
  }
}

/** Generates a command's completion script for a shell. */
export const script = async (described: Described, shell: CommandCompletions.Shell): Promise<string> =>
  CommandCompletions.generate(described.name, shell, filled(described, [], valuesOf(await know())))
