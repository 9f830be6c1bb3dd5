/** Resolves the policy names supported by the command line. */

import { Baselines, LanguagePolicy, Nearest } from "@divisi/core"
import type * as Policy from "@divisi/core/Policy"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as ConductorForm from "@divisi/gguf/ConductorForm"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Failure, usage } from "../invocation/Failure.ts"
import * as KnownModels from "../vendors/KnownModels.ts"
import * as Prices from "../vendors/Prices.ts"
import * as OwnModule from "./OwnModule.ts"
import type { Profiles } from "./Profiles.ts"

/** Options for creating policies. */
export interface Options {
  /** Worker profiles for policies with the suffix `+profiles`. */
  readonly profiles?: Profiles | undefined
  /** Prices of planning models that are not in the pool. */
  readonly prices?: Prices.Prices | undefined
  /** The cost limit that applies to such a model, if any. Its price must then be known. */
  readonly limitUsd?: number | undefined
  /** Whether a view displays the notes of plans. If not, they are printed to standard error. */
  readonly areNotesShown?: boolean | undefined
}

/** Policy names as shown in help and errors. */
export const known = [
  "conductor",
  "tiny",
  "lexical",
  "single:<id>",
  "best-single",
  "random",
  "best-of:<n>",
  "self-consistency:<n>",
  "self-reflection:<n>",
  "moa",
  "checked:<first>+<then>+<check>",
  "agreed:<a>+<b>+<otherwise>",
  "router",
  "router:half",
  "router:within-2",
  "learned",
  "learned:half",
  "learned:within-2",
  "head",
  "head:<file>",
  "oracle",
  "<vendor>:<model>",
  "model:<id>",
  "./<file>.ts"
] as const

const names = [...new Set(known.map((one) => one.replace(/[:<.].*/, "")).filter((one) => one !== ""))]

/**
 * Returns the policy name that a misspelt name probably refers to, including the text after its colon if the policy
 * takes one.
 */
const nearest = (name: string): string | undefined => {
  const [kind = "", ...rest] = name.split(":")
  const found = Nearest.nearest(kind, names)
  return found === undefined || isUncounted(found) || rest.length === 0 ? found : [found, ...rest].join(":")
}

const unknown = (name: string) => {
  const meant = KnownModels.fullName(name) ?? nearest(name)
  return usage(`Unknown policy "${name}".${Nearest.didYouMean(meant)} Available: ${known.join(", ")}.`)
}

/** Returns the number after a colon, or the policy's default if there is no colon. */
const countOf = (name: string, value: string | undefined): Effect.Effect<number | undefined, Failure> => {
  if (value === undefined) return Effect.succeed(undefined)
  return /^[1-9]\d{0,3}$/.test(value)
    ? Effect.succeed(Number(value))
    : Effect.fail(usage(`Policy "${name}:${value}": expected a whole number of at least 1, such as ${name}:3.`))
}

/** Returns the worker for `single:<id>`, given by id or ordinal. */
const singleOf = (pool: WorkerPool.WorkerPool, value: string | undefined): Effect.Effect<Policy.Policy, Failure> => {
  const ids = WorkerPool.ids(pool)
  if (value !== undefined && ids.includes(value)) return Effect.succeed(Baselines.single(value))
  if (value !== undefined && /^\d+$/.test(value) && Number(value) < ids.length) {
    return Effect.succeed(Baselines.single(ids[Number(value)]!))
  }
  const meant = value === undefined ? undefined : Nearest.nearest(value, ids)
  const problem =
    value === undefined
      ? "Policy single needs a worker."
      : `Policy "single:${value}": the pool has no worker "${value}".${Nearest.didYouMean(meant && `single:${meant}`)}`
  return Effect.fail(usage(`${problem} Use single:<id> with one of: ${ids.join(", ")}.`))
}

/** Returns the best single worker. Supported only for pools that consist of the gym's workers. */
const bestSingle = (pool: WorkerPool.WorkerPool): Effect.Effect<string | undefined, Failure> =>
  Effect.flatMap(
    Effect.promise(() => import("./OfflineGym.ts")),
    (OfflineGym) => OfflineGym.bestSingle(pool)
  )

/** Returns the worker for policies that require one, either as a judge or to be sampled repeatedly. */
const lead = (pool: WorkerPool.WorkerPool): Effect.Effect<Baselines.WorkerReference, Failure> =>
  Effect.map(bestSingle(pool), (best) => best ?? 0)

/**
 * Output limit for planning completions of chat models, including reasoning. The paper's limit of 1024 tokens is meant
 * for a model trained to write plans.
 */
const completionTokens = 8_192

/** The paper's limit, used for local models: they reason little, and every token takes time. */
const localTokens = 1_024

/**
 * Returns a policy in which a chat model plans, based on the workers' descriptions, since it was not trained on these
 * workers. If it fails or does not write a plan, the lexical policy plans instead.
 */
const prompted = (model: Worker): Policy.Policy =>
  LanguagePolicy.make({
    model,
    prompt: { descriptions: true, mayAnswer: true },
    maxOutputTokens: model.provider?.startsWith("llamacpp:") ? localTokens : completionTokens,
    fallback: LexicalPolicy.make()
  })

/**
 * Returns a local model that declares the prompt format in which it was trained as a Conductor. `undefined` for any
 * other model.
 */
const trained = (
  model: Worker,
  name: string,
  pool: WorkerPool.WorkerPool
): Effect.Effect<Policy.Policy | undefined, Failure> =>
  Effect.gen(function* () {
    if (!name.startsWith("llamacpp:") || name === "llamacpp:default") return undefined
    const LocalModels = yield* Effect.promise(() => import("../vendors/LocalModels.ts"))
    const { TrainedConductor } = yield* LocalModels.loaded
    const named = LocalModels.named(name.slice("llamacpp:".length))
    const form = yield* Effect.mapError(TrainedConductor.form(named.model, LocalModels.downloading()), ({ message }) =>
      usage(`Cannot use ${name} as the planner. ${message}`)
    )
    if (form === undefined) return undefined
    const strangers = WorkerPool.ids(pool).filter((id) => !form.workers.includes(id))
    if (strangers.length > 0) {
      process.stderr.write(
        `divisi: ${name} was trained with ${form.workers.join(", ")}. It knows ${strangers.join(", ")} only by their descriptions\n`
      )
    }
    return ConductorForm.policy(model, form, { temperature: 0, fallback: LexicalPolicy.make() })
  })

const workerOf = (pool: WorkerPool.WorkerPool, id: string | undefined): Worker | undefined =>
  pool.workers.find((worker) => worker.id === id)

/** Uses a worker in the pool as the planner. */
const modelOf = (pool: WorkerPool.WorkerPool, id: string | undefined): Effect.Effect<Policy.Policy, Failure> => {
  const worker = workerOf(pool, id)
  const ids = WorkerPool.ids(pool).join(", ")
  return worker === undefined
    ? Effect.fail(usage(`Policy model needs a worker in the pool. Use model:<id> with one of: ${ids}.`))
    : Effect.succeed(prompted(worker))
}

/** Uses a model outside the pool as the planner. */
const planner = (name: string, { limitUsd, prices = {} }: Options): Effect.Effect<Worker, Failure> =>
  Effect.gen(function* () {
    const WorkerName = yield* Effect.promise(() => import("../vendors/WorkerName.ts"))
    if (nearest(name) !== undefined && !(yield* WorkerName.hasVendor(name))) return yield* unknown(name)
    const [made] = yield* WorkerName.workers([name])
    const model = Prices.priced(prices)(made![0]!)
    yield* Prices.checkLimit([model], limitUsd)
    return model
  })

/** Uses a vendor's model as the planner, or the worker in the pool with the same name. */
const vendorModel = (
  pool: WorkerPool.WorkerPool,
  name: string,
  options: Options
): Effect.Effect<Policy.Policy, Failure> =>
  Effect.gen(function* () {
    const model = workerOf(pool, name) ?? (yield* planner(name, options))
    return (yield* trained(model, name, pool)) ?? prompted(model)
  })

/** Policies that accept a count after a colon. */
const counted = {
  "best-of": (judge: Baselines.WorkerReference, n?: number) => Baselines.bestOf({ judge, n }),
  "self-consistency": (worker: Baselines.WorkerReference, n?: number) => Baselines.selfConsistency({ worker, n }),
  "self-reflection": (worker: Baselines.WorkerReference, rounds?: number) =>
    Baselines.selfReflection({ worker, rounds })
} as const

const isCounted = (kind: string): kind is keyof typeof counted => Object.hasOwn(counted, kind)

const isEscalation = (kind: string): kind is "checked" | "agreed" => kind === "checked" || kind === "agreed"

const escalation = (
  kind: "checked" | "agreed",
  pool: WorkerPool.WorkerPool,
  value: string
): Effect.Effect<Policy.Policy, Failure> =>
  Effect.flatMap(
    Effect.promise(() => import("./Escalations.ts")),
    (Escalations) => Escalations.resolve(kind, value, pool)
  )

const isRouter = (kind: string): kind is "router" | "learned" => kind === "router" || kind === "learned"

/** Returns the router learned from the user's own outcomes, at the given price dial. */
const routed = (
  kind: "router" | "learned",
  pool: WorkerPool.WorkerPool,
  dial: string | undefined
): Effect.Effect<Policy.Policy, Failure, Scope.Scope> =>
  Effect.flatMap(
    Effect.promise(() => import("./LearnedPolicies.ts")),
    (LearnedPolicies) => {
      const make = kind === "learned" ? LearnedPolicies.policy : LearnedPolicies.router
      return make(pool, (name) => plain(name, pool, {}), dial)
    }
  )

/** Returns the policy for a routing head: the one stored by `divisi learn --head`, or one in a file. */
const headOf = (pool: WorkerPool.WorkerPool, file?: string): Effect.Effect<Policy.Policy, Failure, Scope.Scope> =>
  Effect.flatMap(
    Effect.promise(() => import("./LearnedPolicies.ts")),
    (LearnedPolicies) => LearnedPolicies.head(pool, file)
  )

/** Whether the part of a name before its colon is a built-in policy rather than a vendor. */
const isFixed = (kind: string): boolean =>
  kind === "single" || isRouter(kind) || isEscalation(kind) || isCounted(kind) || isUncounted(kind)

const isUncounted = (name: string): boolean =>
  ["conductor", "tiny", "lexical", "random", "moa", "best-single", "head", "oracle", "paper"].includes(name)

const uncounted = (
  name: string,
  pool: WorkerPool.WorkerPool,
  { areNotesShown = false }: Options
): Effect.Effect<Policy.Policy, Failure, Scope.Scope> => {
  switch (name) {
    case "conductor":
      return Effect.flatMap(
        Effect.promise(() => import("./OwnConductors.ts")),
        (OwnConductors) => OwnConductors.make(areNotesShown)
      )
    case "tiny":
      return Effect.flatMap(
        Effect.promise(() => import("./OwnConductors.ts")),
        (OwnConductors) => OwnConductors.makeTiny(areNotesShown)
      )
    case "lexical":
      return Effect.succeed(LexicalPolicy.make())
    case "random":
      return Effect.succeed(Baselines.randomRouter())
    case "moa":
      return Effect.map(lead(pool), (aggregator) => Baselines.mixtureOfAgents({ aggregator }))
    case "best-single":
      return Effect.flatMap(bestSingle(pool), (best) =>
        best === undefined
          ? Effect.fail(usage("Policy best-single works only with the gym's workers. Use single:<id>."))
          : Effect.succeed(Baselines.single(best, { failover: true }))
      )
    case "head":
      return headOf(pool)
    case "oracle":
      return Effect.fail(
        usage("Policy oracle works only on gym tasks. Use it with `divisi gym solve` or `divisi eval`.")
      )
    default:
      return Effect.fail(unknown(name))
  }
}

/** Suffix for a policy that receives measured profiles instead of workers' descriptions. */
export const shownSuffix = "+profiles"

/** Whether a policy reads the descriptions of arbitrary workers. The tiny Conductor supports only the gym's workers. */
const readsDescriptions = (name: string): boolean => {
  const [kind = ""] = name.split(":")
  return name === "lexical" || name === "conductor" || kind === "model" || (name.includes(":") && !isFixed(kind))
}

/**
 * Returns the policy for a name. If it requires a single worker (as a judge, or to be sampled repeatedly), it uses the
 * best single worker of the gym's pool, and the first worker of any other pool. Resources used by a policy are released
 * when the scope closes.
 */
export const resolve = (
  name: string,
  pool: WorkerPool.WorkerPool,
  options: Options = {}
): Effect.Effect<Policy.Policy, Failure, Scope.Scope> => {
  const { profiles, ...rest } = options
  if (!name.endsWith(shownSuffix)) return plain(name, pool, rest)
  const bare = name.slice(0, -shownSuffix.length)
  if (profiles === undefined) {
    return Effect.fail(usage(`${name} needs profiles. Pass an evaluation or transcripts with --profiles.`))
  }
  return readsDescriptions(bare)
    ? Effect.map(plain(bare, pool, options), profiles.show)
    : Effect.fail(
        usage(`Policy ${bare} does not support profiles. Use lexical, conductor, <vendor>:<model> or model:<id>.`)
      )
}

const plain = (
  name: string,
  pool: WorkerPool.WorkerPool,
  options: Options
): Effect.Effect<Policy.Policy, Failure, Scope.Scope> => {
  if (OwnModule.isPath(name)) return OwnModule.policy(name)
  const colon = name.indexOf(":")
  const kind = colon === -1 ? name : name.slice(0, colon)
  const value = colon === -1 ? undefined : name.slice(colon + 1)
  if (kind === "single") return singleOf(pool, value)
  if (kind === "model") return modelOf(pool, value)
  if (isRouter(kind)) return routed(kind, pool, value)
  if (kind === "head" && value !== undefined && value !== "") return headOf(pool, value)
  if (isEscalation(kind)) return escalation(kind, pool, value ?? "")
  if (isCounted(kind)) {
    return Effect.flatMap(countOf(kind, value), (count) =>
      Effect.map(lead(pool), (worker) => counted[kind](worker, count))
    )
  }
  if (value === undefined) return uncounted(name, pool, options)
  return isUncounted(kind) || value === "" ? Effect.fail(unknown(name)) : vendorModel(pool, name, options)
}
