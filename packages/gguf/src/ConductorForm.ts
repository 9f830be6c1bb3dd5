/**
 * The prompt settings of a trained Conductor model, which must be identical at inference. Exported models store them as
 * JSON in their metadata under {@link key}, so the model file alone is enough to run the model.
 */

import { LanguagePolicy, Prompt } from "@divisi/core"
import { isRecord } from "@divisi/core/Fields"
import type { Policy } from "@divisi/core/Policy"
import type { Worker } from "@divisi/core/Worker"
import * as Data from "effect/Data"
import * as Result from "effect/Result"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The prompt settings that a Conductor model was trained with. */
export interface ConductorForm {
  readonly prompt: Prompt.ConductorOptions
  /** Maximum number of tokens per completion. */
  readonly maxTokens: number
  /** Ids of the workers that the model was trained on. It can also route to other workers by their descriptions. */
  readonly workers: ReadonlyArray<string>
}

/** Raised when a string is not a valid form. */
export class ConductorFormError extends Data.TaggedError("ConductorFormError")<{ readonly detail: string }> {
  override get message(): string {
    return `The prompt settings in the model file are invalid: ${this.detail}.`
  }
}

/** The metadata key in a GGUF file. */
export const key = "divisi.conductor"

// -------------------------------------------------------------------------------------------------------------------
// Text
// -------------------------------------------------------------------------------------------------------------------

const version = 1

/**
 * The prompt template of models trained without checks. It leaves out checks and all plan syntax that such models
 * cannot use.
 */
const { answer, checks: _, evidence: __, how, ...paperTemplate } = Prompt.defaultTemplate

const trainedTemplate = (prompt: Prompt.ConductorOptions): Prompt.Template => ({
  ...paperTemplate,
  ...(prompt.how === true && { how }),
  ...(prompt.mayAnswer === true && { answer })
})

/** Encodes a form as JSON. Defaults are included explicitly, because they may differ in the version that decodes it. */
export const encode = ({ maxTokens, prompt, workers }: ConductorForm): string =>
  JSON.stringify({
    version,
    maxTokens,
    workers,
    prompt: {
      ...prompt,
      template: prompt.template ?? trainedTemplate(prompt),
      examples: prompt.examples ?? Prompt.outOfDistributionExamples
    }
  })

/**
 * Whether a value has the same structure as the sample: strings, lists of strings, and records of these. All fields are
 * optional.
 */
const isLike = (value: unknown, sample: unknown): boolean => {
  if (value === undefined) return true
  if (Array.isArray(sample)) return Array.isArray(value) && value.every((item) => typeof item === "string")
  if (!isRecord(sample)) return typeof value === typeof sample
  return isRecord(value) && Object.entries(sample).every(([name, inner]) => isLike(value[name], inner))
}

const isOneOf = (value: unknown, ...allowed: ReadonlyArray<unknown>): boolean =>
  value === undefined || allowed.includes(value)

const isOrdinal = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

const isStep = (value: unknown): boolean =>
  isRecord(value) &&
  isOrdinal(value.worker) &&
  typeof value.subtask === "string" &&
  (value.access === "all" || (Array.isArray(value.access) && value.access.every(isOrdinal)))

const isExample = (value: unknown): boolean =>
  isRecord(value) &&
  [value.topic, value.question, value.thought].every((text) => typeof text === "string") &&
  isRecord(value.workflow) &&
  Array.isArray(value.workflow.steps) &&
  value.workflow.steps.every(isStep)

const isList = <A>(value: unknown, isItem: (item: unknown) => boolean): value is ReadonlyArray<A> =>
  Array.isArray(value) && value.every(isItem)

const problemOf = (form: Readonly<Record<string, unknown>>): string | undefined => {
  const { maxTokens, prompt, workers } = form
  if (form.version !== version)
    return `its version is ${String(form.version)}, but only version ${version} is supported`
  if (!(Number.isSafeInteger(maxTokens) && (maxTokens as number) >= 1)) return "maxTokens is not a number of tokens"
  if (!isList<string>(workers, (id) => typeof id === "string")) return "workers is not a list of ids"
  if (!isRecord(prompt)) return "it has no prompt"
  if (!isRecord(prompt.template) || !isLike(prompt.template, Prompt.defaultTemplate))
    return "prompt.template is missing"
  if (!isList<Prompt.Example>(prompt.examples, isExample)) return "prompt.examples is not a list of examples"
  const isSet = isOneOf(prompt.access, "binary", "fine-grained") && isOneOf(prompt.descriptions, true, false)
  const areFlags = [prompt.subtasks, prompt.how, prompt.mayAnswer].every((flag) => isOneOf(flag, true, false))
  return isSet && areFlags ? undefined : "the prompt has an unknown setting"
}

/**
 * Decodes and validates a form. The text may come from an untrusted source.
 *
 * **Example**
 *
 * ```ts
 * import * as ConductorForm from "@divisi/gguf/ConductorForm"
 * import * as Result from "effect/Result"
 *
 * const form = { prompt: { descriptions: true, examples: [] }, maxTokens: 96, workers: ["abacus"] }
 * const again = Result.getOrThrow(ConductorForm.decode(ConductorForm.encode(form)))
 * again.prompt.descriptions // => true
 * again.maxTokens // => 96
 * ```
 */
export const decode = (text: string): Result.Result<ConductorForm, ConductorFormError> => {
  let form: unknown
  try {
    form = JSON.parse(text)
  } catch {
    return Result.fail(new ConductorFormError({ detail: "it is not JSON" }))
  }
  const detail = isRecord(form) ? problemOf(form) : "it is not an object"
  if (detail !== undefined) return Result.fail(new ConductorFormError({ detail }))
  const { maxTokens, prompt, workers } = form as ConductorForm
  const template = { ...Prompt.emptyTemplate, ...prompt.template }
  return Result.succeed({ maxTokens, workers, prompt: { ...prompt, template } })
}

// -------------------------------------------------------------------------------------------------------------------
// Policies
// -------------------------------------------------------------------------------------------------------------------

/** Creates the policy for a trained model, with the prompt and limits that it was trained with. */
export const policy = (
  model: Worker,
  form: ConductorForm,
  options: Pick<LanguagePolicy.Options, "name" | "temperature" | "fallback"> = {}
): Policy =>
  LanguagePolicy.make({
    ...options,
    model,
    prompt: form.prompt,
    maxOutputTokens: form.maxTokens,
    // The model was not trained on correction prompts.
    resamples: 0
  })
