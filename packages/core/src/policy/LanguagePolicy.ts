/**
 * Language policies: a language model, trained for planning or not, writes the workflow.
 *
 * The model receives the Conductor prompt, and its completion is parsed as a workflow. If parsing fails, the model is
 * shown its completion and the error, up to `resamples` times. If it still fails, the fallback policy is used, if one
 * is configured.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { atOnce } from "../Callback.ts"
import { defined } from "../Fields.ts"
import { check } from "../Options.ts"
import * as Seed from "../Seed.ts"
import { isA, messageOf } from "../Thrown.ts"
import type { Message } from "../task/Message.ts"
import { BudgetExceeded } from "../task/Usage.ts"
import type { HowFormat, Reasoning, Worker, WorkerRequest } from "../task/Worker.ts"
import * as WorkerPool from "../task/WorkerPool.ts"
import type { EarlierStep, Workflow } from "../workflow/Workflow.ts"
import * as WorkflowText from "../workflow/WorkflowText.ts"
import { languagePolicyTable } from "./languagePolicyTable.ts"
import { needsOf } from "./OneWorker.ts"
import * as Policy from "./Policy.ts"
import * as Prompt from "./Prompt.ts"
import { mentionsAnswer, mentionsChecks, mentionsHow } from "./promptTemplate.ts"

export { promptTable } from "./languagePolicyTable.ts"

/** Options for {@link make}. */
export interface Options {
  /** The model that writes workflows. It does not have to be in the pool. */
  readonly model: Worker
  /** Name of the policy. Defaults to the model's id. */
  readonly name?: string | undefined
  /** Options for the prompt. Defaults to the paper's prompt format. */
  readonly prompt?: Prompt.ConductorOptions | undefined
  /** Maximum number of output tokens per completion. Default: 1,024, as in the paper. */
  readonly maxOutputTokens?: number | undefined
  /** Sampling temperature. Defaults to the model's own; the paper uses 1.0. */
  readonly temperature?: number | undefined
  /** Reasoning effort or budget. Defaults to the model's own. */
  readonly reasoning?: Reasoning | undefined
  /** How strictly completions are parsed. Default: `"tolerant"`. */
  readonly mode?: WorkflowText.Mode | undefined
  /**
   * Detects completions that decline the task. If it returns a reason, the run ends as `refused`. By default, every
   * completion is parsed as a workflow.
   */
  readonly refusal?: ((completion: string) => string | undefined) | undefined
  /** Maximum number of additional completions to request if parsing fails. Default: 2. */
  readonly resamples?: number | undefined
  /**
   * Policy to use if the model fails or its last completion cannot be parsed, as with `Policy.withFallback`. Default:
   * none.
   */
  readonly fallback?: Policy.Policy | undefined
}

/** Returns the request settings shared by all attempts in a round. */
const settings = (context: Policy.Context, options: Options): Omit<WorkerRequest, "messages" | "seed"> => ({
  maxOutputTokens: options.maxOutputTokens ?? 1024,
  temperature: options.temperature,
  reasoning: options.reasoning,
  format: {
    type: "workflow",
    poolSize: WorkerPool.size(context.pool) + (context.self ? 1 : 0),
    maxSteps: context.maxSteps,
    access: options.prompt?.access ?? "binary",
    // When answers have failed their checks, an empty workflow means that the round continues.
    allowEmpty: Policy.canStand(context.previous) || context.evidence !== undefined,
    ...(mentionsHow(options.prompt) && { how: howOf(context, options) }),
    ...(mentionsAnswer(options.prompt) && { mayAnswer: true })
  }
})

const howOf = (context: Policy.Context, options: Options): HowFormat => {
  const { maxItems, shapes, tools } = context
  return defined({
    checks: mentionsChecks(context, options.prompt) ? context.checks : undefined,
    shapes,
    tools,
    maxItems
  })
}

const withoutSubtasks = (workflow: Workflow): Workflow => ({
  ...workflow,
  steps: workflow.steps.map((step) => ({ ...step, subtask: "" }))
})

/** A parsed completion. */
interface Written {
  readonly notes: ReadonlyArray<string>
  readonly workflow: Workflow
  readonly stands?: EarlierStep | undefined
  /** The policy's own answer, if the policy is allowed to answer directly. */
  readonly answer?: string | undefined
  readonly refusal?: string | undefined
  /** The message of an exception thrown by user code that inspects the completion. */
  readonly defect?: string | undefined
}

/** Returns a parser that applies the rules of the current round. */
const reader = (context: Policy.Context, options: Options) => {
  const { format } = settings(context, options)
  const rules = {
    ...format!,
    how: format!.how !== undefined,
    shapes: context.shapes,
    tools: context.tools,
    maxItems: context.maxItems,
    mode: options.mode ?? "tolerant",
    checks: mentionsChecks(context, options.prompt) ? context.checks : undefined,
    judges: WorkerPool.size(context.pool),
    earlier:
      context.evidence === undefined
        ? undefined
        : context.previous?.rounds?.map(({ workflow }) => workflow.steps.length)
  }
  return (completion: string): Result.Result<Written, { readonly message: string }> => {
    let refusal: string | undefined
    try {
      refusal = atOnce("refusal", () => options.refusal?.(completion))
    } catch (error) {
      return Result.succeed({ notes: [], workflow: { steps: [] }, defect: `refusal failed: ${messageOf(error)}` })
    }
    if (refusal !== undefined) return Result.succeed({ notes: [], workflow: { steps: [] }, refusal })
    return Result.flatMap(WorkflowText.read(completion, rules), ({ answer, notes, stands, workflow }) => {
      if (stands !== undefined && !hasAnswer(context, stands)) {
        const { round, step } = stands
        const message = `The final answer cannot be step ${step} of round ${round}, because that step has no answer.`
        return Result.fail({ message })
      }
      const misfit = answer === undefined ? undefined : context.misfit?.(answer)
      if (misfit !== undefined)
        return Result.fail({ message: `The answer does not match the output schema: ${misfit}` })
      const written = options.prompt?.subtasks === false ? withoutSubtasks(workflow) : workflow
      const tooDear = written.steps.length === 0 ? undefined : context.admission?.(written)
      if (tooDear !== undefined) return Result.fail(tooDear)
      return Result.succeed({ notes, stands, answer, workflow: written })
    })
  }
}

const hasAnswer = ({ previous }: Policy.Context, { round, step }: EarlierStep): boolean =>
  previous?.rounds?.[round]?.answers[step]?.type === "answered"

/**
 * Disallows direct answers if the question has images, files or tools, which the model is not shown, or if the run has
 * checks, which a direct answer would skip.
 */
const fitted = (context: Policy.Context, options: Options): Options => {
  const { checks = [] } = context
  const isPlain = needsOf(context).size === 0 && checks.length === 0
  return isPlain ? options : { ...options, prompt: withoutAnswer(options.prompt) }
}

const withoutAnswer = (prompt?: Prompt.ConductorOptions) => ({ ...prompt, mayAnswer: false })

/** Omits direct answers from the prompt if the run has an output schema, which the model is not shown. */
const offered = ({ misfit }: Policy.Context, { prompt = {} }: Options): Prompt.ConductorOptions =>
  misfit === undefined ? prompt : withoutAnswer(prompt)

/** Requests completions from the model until one can be parsed, up to the maximum number of attempts. */
const write = Effect.fnUntraced(function* (name: string, context: Policy.Context, given: Options) {
  const options = fitted(context, given)
  const attempts = 1 + (options.resamples ?? 2)
  const wording = offered(context, options)
  const prompt = Prompt.conductorMessages(context, wording)
  const read = reader(context, options)
  let correction: ReadonlyArray<Message> = []
  let problem = ""
  let tooDear: BudgetExceeded | undefined
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { completion, reading } = yield* context.complete({
      model: options.model,
      request: {
        ...settings(context, options),
        messages: [...prompt, ...correction],
        seed: attempt === 0 ? context.seed : Seed.derive(context.seed, "resample", attempt)
      },
      attempt,
      read
    })
    if (Result.isSuccess(reading)) {
      const { defect, refusal } = reading.success
      if (defect !== undefined) return yield* new Policy.PolicyError({ policy: name, detail: defect })
      if (refusal === undefined) return reading.success
      return yield* new Policy.PolicyError({ policy: name, detail: refusal, isRefusal: true })
    }
    problem = reading.failure.message
    tooDear = isA(reading.failure, BudgetExceeded) ? reading.failure : undefined
    correction = Prompt.correctionMessages(completion, problem, wording, context)
  }
  if (tooDear !== undefined) return yield* tooDear
  const times = attempts === 1 ? "" : ` in ${attempts} attempts`
  return yield* new Policy.PolicyError({
    policy: name,
    detail: `${options.model.id} wrote no readable plan${times}. ${problem}`
  })
})

/**
 * Creates a policy in which a language model writes the workflow.
 *
 * **Details**
 *
 * Each attempt uses a different seed. From the second attempt on, the model is shown its previous completion and the
 * parse error. Requests include the text format (`WorkerRequest.format`), so a model with grammar-constrained decoding
 * always writes the paper's three lists. A model without a grammar may also use checks, if the run defines checks and
 * the prompt template mentions them. When such a check fails, the model is shown the results of the steps. It then
 * writes a new workflow, writes an empty workflow to continue, or names the step whose answer is final. An exhausted
 * budget never triggers the fallback. If the fallback is used, the notes of its proposal explain why.
 *
 * **Example**
 *
 * ```ts
 * import { Baselines, LanguagePolicy } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 *
 * const model = ScriptedWorker.make({
 *   id: "conductor-7b",
 *   replies: ['Easy.\n\nmodel_id = [1]\nsubtasks = ["Answer."]\naccess_list = [[]]']
 * })
 * const policy = LanguagePolicy.make({ model, fallback: Baselines.single(0) })
 * policy.name // => "conductor-7b"
 * ```
 */
export const make = (options: Options): Policy.Policy => {
  check("LanguagePolicy.make", options, languagePolicyTable)
  const { fallback, name = options.model.id } = options
  const policy: Policy.Policy = {
    name,
    propose: (context) =>
      Effect.map(
        write(name, context, options),
        ({ answer, notes, workflow }): Policy.Proposal => defined({ notes, workflow, answer })
      ),
    revise: (context) =>
      Effect.map(write(name, context, options), ({ stands, ...proposal }) =>
        stands === undefined ? Policy.revisionOf(proposal) : { type: "stop", answer: stands, notes: proposal.notes }
      )
  }
  return fallback === undefined ? policy : Policy.withFallback(policy, fallback)
}
