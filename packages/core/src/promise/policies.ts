/** Policies of functions and of models. */
import * as Effect from "effect/Effect"
import * as Options from "../Options.ts"
import type * as LanguagePolicy from "../policy/LanguagePolicy.ts"
import { languagePolicyTable } from "../policy/languagePolicyTable.ts"
import {
  type Policy,
  type Context as PolicyContext,
  PolicyError,
  type Revising,
  type Revision,
  withFallback
} from "../policy/Policy.ts"
import { messageOf } from "../Thrown.ts"
import { type Checks, isChecks } from "../task/Check.ts"
import type { Workflow, WorkflowInput } from "../workflow/Workflow.ts"

/** A revision whose new plan may name workers by their ids. */
export type RevisionInput =
  | Exclude<Revision, { readonly type: "re-plan" }>
  | (Omit<Extract<Revision, { readonly type: "re-plan" }>, "workflow"> & { readonly workflow: WorkflowInput })

/** The behavior of a policy after failed checks. */
export interface PolicyOptions {
  /** The checks that its steps call by name, besides those of the run. */
  readonly checks?: Checks | undefined
  /** Decides how to handle a round whose answers failed their checks. By default, the policy re-plans. */
  readonly revise?: ((context: Omit<Revising, "complete">) => RevisionInput | Promise<RevisionInput>) | undefined
}

const options: Options.ShapeOf<PolicyOptions> = {
  checks: Options.expects("checks by name, { name: check }", isChecks),
  revise: Options.aFunction
}

/**
 * A policy from a function that writes a workflow, at once or as a promise.
 *
 * **Details**
 *
 * If the function throws or returns an invalid workflow, the run ends as `failed`, and the result's `detail` gives the
 * reason. An empty list of steps confirms the answer of an earlier round. A step names its worker by ordinal or by id.
 *
 * `checks` are the checks that its steps reference by name (`check: { by: "tests", onFailure: "revise" }`). `revise`
 * decides how to handle the round if they fail: `{ type: "go-on" }`, `{ type: "stop", answer: { round, step } }`, or
 * `{ type: "re-plan", workflow }`. Without it, the first function is called for the workflow of the next round, and a
 * workflow without steps means "continue".
 *
 * **Example**
 *
 * ```ts
 * import { conduct, policy, worker } from "@divisi/core/promise"
 *
 * const two = policy("ask twice", ({ pool }) => ({
 *   steps: [
 *     { worker: 0, subtask: "Solve it.", access: [] },
 *     { worker: pool.workers.length - 1, subtask: "Check the answer above.", access: "all" }
 *   ]
 * }))
 *
 * const revising = policy(
 *   "until it is a number",
 *   () => ({ steps: [{ worker: 0, subtask: "", access: [], check: { by: "number", onFailure: "revise" } }] }),
 *   {
 *     checks: { number: (answer) => /^\d+$/.test(answer) || "It is no number." },
 *     revise: ({ evidence, pool, round }) => ({
 *       type: "re-plan",
 *       workflow: {
 *         steps: [
 *           {
 *             worker: pool.workers.length - 1,
 *             subtask: `Correct this: ${evidence.failed[0].objection}`,
 *             access: [],
 *             earlier: [{ round: round - 1, step: 0 }]
 *           }
 *         ]
 *       }
 *     })
 *   }
 * )
 * const pool = [worker({ id: "cheap", answer: () => "about forty" }), worker({ id: "strong", answer: () => "42" })]
 * const result = await conduct({ question: "What is 6 times 7?", pool, policy: revising })
 * result.answer // => "42"
 * ```
 */
export const policy = (
  name: string,
  propose: (context: Omit<PolicyContext, "complete">) => WorkflowInput | Promise<WorkflowInput>,
  { checks, revise }: PolicyOptions = {}
): Policy => {
  if (typeof name !== "string" || typeof propose !== "function") {
    const detail = `it needs a name and a function, policy("mine", ({ pool }) => ({ steps: [...] })), not ${Options.kindOf(name)} and ${Options.kindOf(propose)}.`
    throw new Options.OptionsError({ what: "policy", detail })
  }
  Options.check("policy", { checks, revise }, options)
  const failed = (cause: unknown) => new PolicyError({ policy: name, detail: messageOf(cause), cause })
  return {
    name,
    checks,
    propose: ({ complete: _, ...context }) =>
      // The ids of workers are resolved by the caller (`Policy.propose`).
      Effect.tryPromise({ try: async () => ({ workflow: (await propose(context)) as Workflow }), catch: failed }),
    revise:
      revise &&
      (({ complete: _, ...context }) =>
        Effect.tryPromise({ try: async () => (await revise(context)) as Revision, catch: failed }))
  }
}

/**
 * A policy of a model that writes the plan, trained for it or not: `LanguagePolicy.make`, with its options checked.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, languagePolicy, single, worker } from "@divisi/core/promise"
 *
 * const solver = worker({ id: "solver", answer: () => "42" })
 * // Any chat model: here one that always writes the same plan.
 * const model = worker({
 *   id: "planner",
 *   answer: () => 'model_id = [0]\nsubtasks = ["Multiply."]\naccess_list = [[]]'
 * })
 * const policy = languagePolicy({ model, prompt: { descriptions: true }, fallback: single(0) })
 * const result = await conduct({ question: "What is 6 times 7?", pool: [solver], policy })
 * result.answer // => "42"
 * result.spend.calls // => 2
 * ```
 */
export const languagePolicy = (options: LanguagePolicy.Options): Policy => {
  Options.check("languagePolicy", options, languagePolicyTable)
  const { fallback, ...rest } = options
  const policy: Policy = {
    name: rest.name ?? rest.model.id,
    propose: (context) =>
      Effect.flatMap(
        // A program whose policies are functions loads neither prompts nor readers of plans.
        Effect.promise(() => import("../policy/LanguagePolicy.ts")),
        ({ make }) => make(rest).propose(context)
      )
  }
  return fallback === undefined ? policy : withFallback(policy, fallback)
}
