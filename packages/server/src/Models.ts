/**
 * Resolves the models that a server offers: `divisi` runs the Conductor, `divisi-fast` a single worker, and
 * `worker/<id>` a specific worker. Servers can define aliases for these names.
 */
import { Baselines, Nearest } from "@divisi/core"
import type { Policy } from "@divisi/core/Policy"
import type { Pricing } from "@divisi/core/Usage"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Result from "effect/Result"
import { ApiError, invalid } from "./wire/ApiError.ts"
import * as Choice from "./wire/Choice.ts"

/** Configures the models that a server offers. */
export interface Options {
  readonly pool: WorkerPool.WorkerPool
  /** The policy for `divisi`. Defaults to `DefaultPolicy` from core. */
  readonly policy?: Policy | undefined
  /**
   * The policy for `divisi-fast`. Defaults to the cheapest language model in the pool, or the first worker if the pool
   * has no language model.
   */
  readonly fast?: Policy | undefined
  /**
   * Which model answers an agent's housekeeping requests to `divisi`, such as chat titles. `"fast"` uses `divisi-fast`;
   * `"as-asked"` uses `divisi`. Default: `"fast"`.
   */
  readonly housekeeping?: "fast" | "as-asked" | undefined
  /** Policies by name. A request can select one to replace the policy for `divisi`. */
  readonly policies?: Readonly<Record<string, Policy>> | undefined
  /** Model aliases, e.g. `gpt-4o` for `divisi`. Validated by {@link problemOf}. */
  readonly aliases?: Readonly<Record<string, string>> | undefined
}

/**
 * The workers and the policy selected for a request.
 */
export interface Team {
  readonly policy: Policy | undefined
  readonly pool: WorkerPool.WorkerPool
}

const conductor = "divisi"
const fast = "divisi-fast"
const direct = "worker/"

/**
 * Returns the names of all available models in display order. `workers` restricts the result to workers that the caller
 * may use.
 */
export const names = (
  { aliases = {}, pool }: Options,
  workers: ReadonlyArray<string> = WorkerPool.ids(pool)
): ReadonlyArray<string> => {
  const own = [
    conductor,
    fast,
    ...WorkerPool.ids(pool).flatMap((id) => (workers.includes(id) ? [`${direct}${id}`] : []))
  ]
  return [...own, ...Object.keys(aliases).filter((name) => own.includes(aliases[name]!))]
}

/** Maximum number of prefixes before a model name, as in `openrouter/openai/divisi`. */
const maxPrefixes = 3

/**
 * Returns the models that a requested name may refer to, most likely first. Handles the provider prefixes that clients
 * add (`openai/divisi`) and the version suffixes that proxies add (`divisi:latest`). Names of individual workers are
 * left unchanged.
 *
 * @internal
 */
export const meant = (asked: string): ReadonlyArray<string> => {
  const names = [asked]
  let rest = asked
  for (let at = 0; at < maxPrefixes && rest.includes("/") && !rest.startsWith(direct); at++) {
    rest = rest.slice(rest.indexOf("/") + 1)
    names.push(rest)
  }
  return [...names, ...names.filter((name) => name.endsWith(":latest")).map((name) => name.slice(0, -":latest".length))]
}

/**
 * Resolves a requested name to one of `names`, or returns `undefined`. Tries each candidate from {@link meant}; a name
 * that differs only in case (`Divisi`) is accepted if the match is unambiguous.
 *
 * @internal
 */
export const named = (asked: string, names: ReadonlyArray<string>): string | undefined => {
  const all = meant(asked)
  const exact = all.find((name) => names.includes(name))
  if (exact !== undefined) return exact
  const lower = all.map((name) => name.toLowerCase())
  const alike = names.filter((name) => lower.includes(name.toLowerCase()))
  return alike.length === 1 ? alike[0] : undefined
}

/**
 * Validates the aliases. Returns the first problem as a clause, or `undefined` if every alias refers to an existing
 * model.
 */
export const problemOf = ({ aliases = {}, pool }: Options): string | undefined => {
  const own = names({ pool })
  for (const [name, target] of Object.entries(aliases)) {
    if (own.includes(name)) return `"${name}" is already the name of a model.`
    if (Choice.ofModel(name)[1].length > 0) return `"${name}" excludes workers, which an alias cannot do`
    if (own.includes(target)) continue
    const meant = own.includes(`${direct}${target}`) ? `${direct}${target}` : Nearest.nearest(target, own)
    const hint = meant === undefined ? `models: ${own.join(", ")}` : `did you mean ${meant}?`
    return `the alias "${name}" points to "${target}", which this server does not offer; ${hint}`
  }
  return undefined
}

const priceOf = ({ pricing }: Worker): number => {
  const known: Partial<Pricing> = pricing ?? {}
  return known.inputPerMillion === undefined
    ? Number.POSITIVE_INFINITY
    : known.inputPerMillion + (known.outputPerMillion ?? 0)
}

/** Returns the cheapest language model, or the first worker if the pool has no language model. */
const cheapest = ({ workers }: WorkerPool.WorkerPool): string =>
  workers
    .filter(({ isLanguageModel }) => isLanguageModel)
    .reduce<Worker>(
      (best, worker) => (priceOf(worker) < priceOf(best) ? worker : best),
      workers.find(({ isLanguageModel }) => isLanguageModel) ?? workers[0]
    ).id

const unknown = (model: string, options: Options): ApiError =>
  new ApiError({
    kind: "not-found",
    field: "model",
    message: `Model "${model}" does not exist. Models: ${names(options).join(", ")}.`
  })

/**
 * Returns the workers eligible for a request, or only the worker that the request requires. Fails with a reason for
 * each worker if none is eligible.
 *
 * @internal
 */
export const chosen = (
  pool: WorkerPool.WorkerPool,
  { exclude, only }: Choice.Choice,
  needed?: string | undefined
): WorkerPool.WorkerPool => {
  const isExcluded = (id: string) => exclude.includes(id)
  const isListed = (id: string) => only === undefined || only.includes(id)
  const isMeant = (id: string) => needed === undefined || id === needed
  const isEligible = (id: string) => isMeant(id) && !isExcluded(id) && isListed(id)
  const made = WorkerPool.make(pool.workers.filter(({ id }) => isEligible(id)))
  if (Result.isSuccess(made)) return made.success
  const ids = WorkerPool.ids(pool)
  const meant = ids.filter(isMeant)
  const unknown = (only ?? []).filter((id) => !ids.includes(id))
  const reasons = [
    reason(meant.filter(isExcluded), "is excluded", "are excluded"),
    reason(
      meant.filter((id) => !isExcluded(id) && !isListed(id)),
      'is not in "only"',
      'are not in "only"'
    ),
    reason(unknown, 'is in "only", but does not exist', 'are in "only", but do not exist')
  ].filter((text) => text !== undefined)
  throw new ApiError({ kind: "invalid-request", field: "model", message: `No eligible worker: ${reasons.join("; ")}.` })
}

/**
 * Combines identical reasons for several workers into one clause. More than three workers are counted instead of
 * listed.
 */
const reason = (ids: ReadonlyArray<string>, one: string, many: string): string | undefined => {
  if (ids.length === 0) return undefined
  return ids.length === 1
    ? `${ids[0]} ${one}`
    : `${ids.length > 3 ? `${ids.length} workers` : ids.join(" and ")} ${many}`
}

/** Looks up the policy that a request names. */
const namedPolicy = ({ policies = {} }: Options, name: string): Policy => {
  if (Object.hasOwn(policies, name)) return policies[name]!
  const known = Object.keys(policies)
  const hint =
    known.length === 0
      ? "this server does not let requests choose a policy"
      : `available policies are ${known.join(", ")}`
  throw invalid("divisi.policy", `Policy "${name}" is not available: ${hint}.`)
}

/**
 * Restricts the options to the workers that a caller may use. Throws an `ApiError` if none of the server's workers is
 * allowed.
 *
 * @internal
 */
export const allowed = (options: Options, workers: ReadonlyArray<string> | undefined): Options => {
  if (workers === undefined) return options
  const made = WorkerPool.make(options.pool.workers.filter(({ id }) => workers.includes(id)))
  if (Result.isSuccess(made)) return { ...options, pool: made.success }
  const message = "This API key allows none of the server's current workers."
  throw new ApiError({ kind: "permission", message })
}

/**
 * Whether a caller may request a model. Worker exclusions in the requested name are ignored.
 *
 * @internal
 */
export const mayName = (asked: string, models: ReadonlyArray<string> | undefined): boolean =>
  models?.includes(Choice.ofModel(asked)[0]) ?? true

/**
 * Selects the workers and the policy for a request. Housekeeping requests to the Conductor are routed to the fast
 * model. Throws an `ApiError` if the model does not exist or no worker is eligible.
 *
 * @internal
 */
export const team = (options: Options, asked: string, choice: Choice.Choice, isHousekeeping = false): Team => {
  const [named] = Choice.ofModel(asked)
  const { aliases = {}, policy, pool } = options
  const meant = Object.hasOwn(aliases, named) ? aliases[named]! : named
  const { policy: asks } = choice
  const isSmall = isHousekeeping && options.housekeeping !== "as-asked" && asks === undefined
  const model = meant === conductor && isSmall ? fast : meant
  if (model === conductor) {
    return { policy: asks === undefined ? policy : namedPolicy(options, asks), pool: chosen(pool, choice) }
  }
  if (asks !== undefined) {
    throw invalid(
      "divisi.policy",
      `Model ${named} is a fixed worker, so a policy cannot be chosen. Use the model ${conductor} to choose a policy.`
    )
  }
  if (model === fast) {
    const left = chosen(pool, choice)
    return { policy: options.fast ?? Baselines.single(cheapest(left), { failover: true }), pool: left }
  }
  const id = model.startsWith(direct) ? model.slice(direct.length) : undefined
  if (id === undefined || !WorkerPool.ids(pool).includes(id)) throw unknown(named, options)
  return { policy: Baselines.single(id), pool: chosen(pool, choice, id) }
}
