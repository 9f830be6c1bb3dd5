/**
 * The prompt settings that a Conductor was trained with, which must be the same when it plans. An exported model stores
 * them in its metadata as JSON under {@link key}, so the file alone is sufficient to run the model.
 */
import { LanguagePolicy, Prompt } from "@divisi/core"
import type { Policy } from "@divisi/core/Policy"
import type { Worker } from "@divisi/core/Worker"
import * as Data from "effect/Data"
import * as Result from "effect/Result"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The settings that a Conductor was trained with. */
export interface ConductorForm {
  readonly prompt: Prompt.ConductorOptions
  /** The maximum number of tokens of a completion. */
  readonly maxTokens: number
  /** The ids of the workers that it was trained on. It may know others by their descriptions. */
  readonly workers: ReadonlyArray<string>
}

/** The error for a text that is not a form. */
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

/** The template for a model that was trained without checks: it does not mention them, nor forms that it may not write. */
const { answer, checks: _, evidence: __, how, ...paperTemplate } = Prompt.defaultTemplate

const trainedTemplate = (prompt: Prompt.ConductorOptions): Prompt.Template => ({
  ...paperTemplate,
  ...(prompt.how === true && { how }),
  ...(prompt.mayAnswer === true && { answer })
})

/** Writes a form. Defaults are written explicitly, because they may differ where the form is read. */
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

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether a value is made like a sample: texts, lists of texts, and records of these, as far as they are there. */
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
  if (form.version !== version) return `its version is ${String(form.version)}, and only ${version} is known`
  if (!(Number.isSafeInteger(maxTokens) && (maxTokens as number) >= 1)) return "maxTokens is not a number of tokens"
  if (!isList<string>(workers, (id) => typeof id === "string")) return "workers is not a list of ids"
  if (!isRecord(prompt)) return "it has no prompt"
  if (!isRecord(prompt.template) || !isLike(prompt.template, Prompt.defaultTemplate)) return "prompt.template is none"
  if (!isList<Prompt.Example>(prompt.examples, isExample)) return "prompt.examples is not a list of examples"
  const isSet = isOneOf(prompt.access, "binary", "fine-grained") && isOneOf(prompt.descriptions, true, false)
  const areFlags = [prompt.subtasks, prompt.how, prompt.mayAnswer].every((flag) => isOneOf(flag, true, false))
  return isSet && areFlags ? undefined : "the prompt has an unknown setting"
}

/**
 * Reads a form from any source.
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

/** Returns the policy of a trained model, with the prompt and limits of its training. */
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
    // It was never trained on prompts with corrections.
    resamples: 0
  })
