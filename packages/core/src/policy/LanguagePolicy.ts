/**
 * Language policies: a language model, trained for planning or not, writes the workflow.
 *
 * The model receives the Conductor prompt, and its completion is parsed as a workflow. If parsing fails, the completion
 * is returned to the model with the error, at most `resamples` times. Then the fallback policy takes over, if there is
 * one.
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
import * as Policy from "./Policy.ts"
import * as Prompt from "./Prompt.ts"

export { languagePolicyTable, promptTable } from "./languagePolicyTable.ts"

/** Options for creating a language policy. */
export interface Options {
  /** The model that writes the workflow. It need not be in the pool. */
  readonly model: Worker
  /** Default: the model's id. */
  readonly name?: string | undefined
  /** How the model is prompted. Default: as in the paper. */
  readonly prompt?: Prompt.ConductorOptions | undefined
  /** The maximum number of tokens of a completion. Default: 1024, as in the paper. */
  readonly maxOutputTokens?: number | undefined
  /** Default: the model's own. The paper uses 1.0. */
  readonly temperature?: number | undefined
  /** Default: the model's own. */
  readonly reasoning?: Reasoning | undefined
  /** How completions are parsed. Default: `"tolerant"`. */
  readonly mode?: WorkflowText.Mode | undefined
  /**
   * Returns a reason if the completion declines the task; the run then ends as `refused`. By default, every completion
   * is parsed as a workflow.
   */
  readonly refusal?: ((completion: string) => string | undefined) | undefined
  /** How many more completions are requested if parsing fails. Default: 2. */
  readonly resamples?: number | undefined
  /**
   * The policy that plans if the model fails or its last attempt cannot be parsed, as in `Policy.withFallback`.
   * Default: none.
   */
  readonly fallback?: Policy.Policy | undefined
}

/** Returns the call settings that all attempts of a round share. */
const settings = (context: Policy.Context, options: Options): Omit<WorkerRequest, "messages" | "seed"> => ({
  maxOutputTokens: options.maxOutputTokens ?? 1024,
  temperature: options.temperature,
  reasoning: options.reasoning,
  format: {
    type: "workflow",
    poolSize: WorkerPool.size(context.pool) + (context.self ? 1 : 0),
    maxSteps: context.maxSteps,
    access: options.prompt?.access ?? "binary",
    // During a round, a workflow without steps means "continue".
    allowEmpty: Policy.canStand(context.previous) || context.evidence !== undefined,
    ...(Prompt.mentionsHow(options.prompt) && { how: howOf(context, options) }),
    ...(Prompt.mentionsAnswer(options.prompt) && { mayAnswer: true })
  }
})

const howOf = (context: Policy.Context, options: Options): HowFormat => {
  const { maxItems, shapes, tools } = context
  return defined({
    checks: Prompt.mentionsChecks(context, options.prompt) ? context.checks : undefined,
    shapes,
    tools,
    maxItems
  })
}

const withoutSubtasks = (workflow: Workflow): Workflow => ({
  ...workflow,
  steps: workflow.steps.map((step) => ({ ...step, subtask: "" }))
})

/** A parsed completion: a workflow, the step whose answer is final (during a round), or a refusal. */
interface Written {
  readonly notes: ReadonlyArray<string>
  readonly workflow: Workflow
  readonly stands?: EarlierStep | undefined
  /** The Conductor's own answer, if it may answer. */
  readonly answer?: string | undefined
  readonly refusal?: string | undefined
  /** The error of a user function that reads the completion. */
  readonly defect?: string | undefined
}

/** Returns a parser for completions that applies the rules of a round. */
const reader = (context: Policy.Context, options: Options) => {
  const { format } = settings(context, options)
  const rules = {
    ...format!,
    how: format!.how !== undefined,
    shapes: context.shapes,
    tools: context.tools,
    maxItems: context.maxItems,
    mode: options.mode ?? "tolerant",
    checks: Prompt.mentionsChecks(context, options.prompt) ? context.checks : undefined,
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
 * The context that the model is shown. It contains neither the schemas of tools nor the output schema, so the model is
 * not prompted to answer directly.
 */
const offered = ({ misfit, tools = [] }: Policy.Context, { prompt = {} }: Options): Prompt.ConductorOptions =>
  tools.length === 0 && misfit === undefined ? prompt : { ...prompt, mayAnswer: false }

/** Calls the model until its text can be parsed. */
const write = Effect.fnUntraced(function* (name: string, context: Policy.Context, options: Options) {
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
    detail: `the plan from ${options.model.id} could not be read${times}. ${problem}`
  })
})

/**
 * Makes a policy from a language model.
 *
 * **Details**
 *
 * Each attempt has its own seed. Attempts after the first show the model its last completion and the parse error. The
 * request includes the format of the text (`WorkerRequest.format`), so a model with grammar-constrained decoding always
 * writes the paper's three lists. A model without a grammar may write checks if the run has checks and the prompt's
 * template mentions them. If one of these checks fails, the model sees the results of the steps. It then writes a new
 * workflow, an empty workflow (continue), or the step whose answer is final. An exhausted budget never triggers the
 * fallback. The notes of a fallback's proposal state why the fallback was used.
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
