/** Helpers for defining policies as plain functions or with a language model. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { unheard } from "../Callback.ts"
import * as Options from "../Options.ts"
import type * as LanguagePolicy from "../policy/LanguagePolicy.ts"
import { languagePolicyTable } from "../policy/languagePolicyTable.ts"
import {
  type ModelResponse,
  type Policy,
  type Context as PolicyContext,
  PolicyError,
  type Proposal,
  type Revising,
  type Revision,
  withFallback
} from "../policy/Policy.ts"
import { isA, messageOf } from "../Thrown.ts"
import { type Checks, checksRow } from "../task/Check.ts"
import { BudgetExceeded } from "../task/Usage.ts"
import { type Worker, WorkerError, type WorkerRequest } from "../task/Worker.ts"
import type { Workflow, WorkflowInput } from "../workflow/Workflow.ts"

/** Like `Revision`, but the new plan may refer to workers by id. */
export type RevisionInput =
  | Exclude<Revision, { readonly type: "re-plan" }>
  | ({ readonly type: "re-plan" } & (WholeProposal | OwnAnswer))

/** A proposal whose workflow may refer to workers by id. */
type WholeProposal = Omit<Proposal, "workflow"> & { readonly workflow: WorkflowInput; readonly steps?: undefined }

/** An answer given by the policy itself, without a workflow. */
type OwnAnswer = Omit<Proposal, "workflow" | "answer"> & { readonly answer: string; readonly steps?: undefined }

/**
 * The return value of a policy function: a workflow, a workflow together with other fields of the proposal such as
 * `notes` or `isLast`, or an answer without a workflow.
 */
export type ProposalInput = (WorkflowInput & Omit<Proposal, "workflow" | "answer">) | WholeProposal | OwnAnswer

/**
 * Calls a model and resolves with its complete response. The call is charged to the run's budget, retried on failure,
 * and recorded.
 */
export type PromiseComplete = (request: WorkerRequest & { readonly model: Worker }) => Promise<ModelResponse>

/** The argument of a policy function. All model calls must go through `complete`. */
export type PromiseContext<C> = Omit<C, "complete"> & { readonly complete: PromiseComplete }

/** Options for {@link policy}. */
export interface PolicyOptions {
  /** Named checks that the policy's steps may refer to, in addition to the run's checks. */
  readonly checks?: Checks | undefined
  /**
   * Decides how to continue a round in which an answer failed its check. Called when no other step can run. Default:
   * the policy function is called again.
   */
  readonly revise?: ((context: PromiseContext<Revising>) => RevisionInput | Promise<RevisionInput>) | undefined
  /**
   * Number of additional rounds that the policy needs. Set it if the policy may need more rounds than the Conductor
   * allows by default. `Infinity` allows as many rounds as the budget permits.
   */
  readonly recursion?: number | undefined
}

// Marked as pure, so that a bundle without policies of its own leaves it out.
const options = /* @__PURE__ */ (() =>
  Options.table(
    {
      checks: checksRow,
      recursion: Options.countOrInfinity,
      revise: Options.aFunction
    } satisfies Options.ShapeOf<PolicyOptions>,
    { called: Options.aliases({ checks: "guardrails validators", recursion: "maxRounds" }) }
  ))()

/**
 * Creates a policy from a sync or async function that returns a workflow.
 *
 * **Details**
 *
 * Each step refers to its worker by index or id. Return an empty list of steps to confirm the previous round's answer,
 * `{ answer: "Paris." }` to answer without calling a worker, or `{ workflow, notes, isLast }` to set other fields of
 * the `Proposal`. Use `complete` to call a model. If the function throws or returns an invalid workflow, the run ends
 * as `failed` and `detail` of the result contains the reason.
 *
 * `checks` defines named checks that steps can refer to (`check: { by: "tests", onFailure: "revise" }`). When one
 * fails, `revise` decides how to continue: `{ type: "go-on" }`, `{ type: "stop", answer: { round, step } }`, or
 * `{ type: "re-plan", workflow }`. Without `revise`, the policy function is called again for the next round's workflow;
 * an empty workflow means that the run continues unchanged.
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
  propose: (context: PromiseContext<PolicyContext>) => ProposalInput | Promise<ProposalInput>,
  given: PolicyOptions = {}
): Policy => {
  if (typeof name !== "string" || typeof propose !== "function") {
    const detail = `expected a name and a function, policy("mine", ({ pool }) => ({ steps: [...] })), not ${Options.kindOf(name)} and ${Options.kindOf(propose)}.`
    throw new Options.OptionsError({ what: "policy", detail })
  }
  Options.check("policy", given, options)
  const { checks, recursion, revise } = given
  return {
    name,
    checks,
    recursion,
    // `Policy.propose` resolves worker ids.
    propose: (context) => Effect.map(withComplete(name, context, propose), proposalOf),
    revise: revise && ((context) => Effect.map(withComplete(name, context, revise), (revision) => revision as Revision))
  }
}

/** Validates a request to `complete`. */
// Marked as pure, so that a bundle without policies of its own leaves it out.
const completeTable = /* @__PURE__ */ (() =>
  Options.table(
    {
      model: Options.madeBy("a worker", "generate"),
      messages: Options.expects(
        "a non-empty list of messages",
        (messages) => Array.isArray(messages) && messages.length > 0
      ),
      maxOutputTokens: Options.whole(1),
      temperature: Options.temperature,
      seed: Options.anything,
      stopSequences: Options.anything,
      reasoning: Options.anObject,
      tools: Options.expects("a list of tools", Array.isArray),
      toolChoice: Options.anything,
      parallelToolCalls: Options.flag,
      output: Options.anObject,
      format: Options.anything,
      preferences: Options.oneOf("require", "omit")
    } satisfies Options.ShapeOf<Parameters<PromiseComplete>[0]>,
    { required: ["model", "messages"] }
  ))()

const isWhole = (given: ProposalInput): given is WholeProposal | OwnAnswer =>
  typeof given === "object" &&
  given !== null &&
  given.steps === undefined &&
  ("workflow" in given || typeof given.answer === "string")

const proposalOf = (given: ProposalInput): Proposal => {
  if (isWhole(given)) return given as Proposal
  if (!Array.isArray(given?.steps)) return { workflow: given as Workflow }
  const { answer, steps, ...rest } = given as Workflow
  return { ...rest, workflow: answer === undefined ? { steps } : { steps, answer } }
}

/** Tracks the completions requested by a policy function. */
interface Completing {
  readonly ask: PromiseComplete
  /** Aborts all completions in flight. Resolves once they have been charged. */
  readonly stop: () => Promise<unknown>
  readonly isIdle: () => boolean
}

const completing = (
  complete: PolicyContext["complete"],
  services: Context.Context<never>,
  problem: () => string | undefined
): Completing => {
  const inFlight = new Map<Promise<ModelResponse>, AbortController>()
  const made = async (given: Parameters<PromiseComplete>[0]): Promise<ModelResponse> => {
    const detail = problem()
    if (detail !== undefined) throw new Error(detail)
    Options.check("complete", given, completeTable)
    const { model, ...request } = given
    const stop = new AbortController()
    const asked = complete({ model, request, read: (_, said) => Result.succeed(said) })
    const said = Effect.map(asked, ({ said }) => said)
    const completion = Effect.runPromiseWith(services)(said, { signal: stop.signal })
    inFlight.set(completion, stop)
    try {
      return await completion
    } finally {
      inFlight.delete(completion)
    }
  }
  return {
    ask: (request) => {
      const completion = made(request)
      // The run already reports a failed call. If the policy does not await the promise, its rejection must not crash
      // the process.
      unheard(completion)
      return completion
    },
    stop: () => {
      for (const stop of inFlight.values()) stop.abort()
      return Promise.allSettled(inFlight.keys())
    },
    isIdle: () => inFlight.size === 0
  }
}

const isPromise = <A>(given: A | Promise<A>): given is Promise<A> =>
  typeof (given as Partial<Promise<A>> | undefined)?.then === "function"

/**
 * Calls a policy function, with `complete` wrapped to return promises. Completions that are still in flight when the
 * function returns are aborted and charged before the run proceeds. There is no overhead for policies that neither call
 * a model nor return a promise.
 */
const withComplete = <C extends PolicyContext, A>(
  name: string,
  { complete, ...context }: C,
  call: (context: PromiseContext<C>) => A | Promise<A>
): Effect.Effect<A, PolicyError | WorkerError | BudgetExceeded> =>
  Effect.flatMap(Effect.context(), (services) =>
    Effect.callback<A, PolicyError | WorkerError | BudgetExceeded>((resume) => {
      let completions: Completing | undefined
      let isOver = false
      const ask: PromiseComplete = (request) => {
        completions ??= completing(complete, services, () =>
          isOver ? `${name} has returned its plan; await each completion before that` : undefined
        )
        return completions.ask(request)
      }
      const end = (ended: Effect.Effect<A, PolicyError | WorkerError | BudgetExceeded>) => {
        isOver = true
        if (completions === undefined || completions.isIdle()) resume(ended)
        else completions.stop().then(() => resume(ended))
      }
      const failed = (cause: unknown) =>
        end(Effect.fail(isOfRun(cause) ? cause : new PolicyError({ policy: name, detail: messageOf(cause), cause })))
      try {
        const given = call({ ...context, complete: ask } as PromiseContext<C>)
        if (isPromise(given)) given.then((value) => end(Effect.succeed(value)), failed)
        else end(Effect.succeed(given))
      } catch (cause) {
        failed(cause)
      }
      return Effect.promise(async () => {
        isOver = true
        await completions?.stop()
      })
    })
  )

/** Whether the error comes from a worker call or the budget. Such errors end the run and are not wrapped. */
const isOfRun = (error: unknown): error is WorkerError | BudgetExceeded =>
  isA(error, WorkerError) || isA(error, BudgetExceeded)

/**
 * Creates a policy whose plans are written by a language model. Validates its options and delegates to
 * `LanguagePolicy.make`. The model does not have to be trained for planning.
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
        // Loaded on first use, so that programs that only use function policies load neither the prompts nor the plan
        // parser.
        Effect.promise(() => import("../policy/LanguagePolicy.ts")),
        ({ make }) => make(rest).propose(context)
      )
  }
  return fallback === undefined ? policy : withFallback(policy, fallback)
}
