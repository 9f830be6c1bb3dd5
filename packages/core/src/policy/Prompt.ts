/**
 * Prompts for language policies.
 *
 * Rendering is pure: the same inputs yield the same messages, so prompts can be snapshot-tested, cached and used for
 * training. The wording consists of a {@link Template} and a list of {@link Example}s, both of which can be replaced.
 */

import { type Message, type PlainMessage, text } from "../task/Message.ts"
import * as Task from "../task/Task.ts"
import * as WorkerPool from "../task/WorkerPool.ts"
import type * as StepMessages from "../workflow/StepMessages.ts"
import { assistant, background, user } from "../workflow/StepMessages.ts"
import type * as Workflow from "../workflow/Workflow.ts"
import * as WorkflowText from "../workflow/WorkflowText.ts"
import type * as Policy from "./Policy.ts"
import { mapExample, outOfDistributionExamples } from "./promptExamples.ts"
import { defaultTemplate, mentionsAnswer, mentionsChecks, mentionsHow } from "./promptTemplate.ts"

export { shapeCorrectionMessages, toolTurnMessages } from "../workflow/LaterMessages.ts"
export { workerMessages } from "../workflow/StepMessages.ts"
export { inDistributionExamples, mapExample, mixedExamples, outOfDistributionExamples } from "./promptExamples.ts"
export { defaultTemplate, emptyTemplate } from "./promptTemplate.ts"

// Declared as aliases, because with `export type { … } from`, they would appear as values in a barrel's declarations.
/** The result of a step. */
export type StepAnswer = StepMessages.StepAnswer
/**
 * The input of a step, as its worker will receive it.
 *
 * @internal
 */
export type WorkerView = StepMessages.WorkerView

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A few-shot example: a question, the reasoning about it, and the resulting workflow. */
export interface Example {
  /** Topic of the question, used for selecting examples. Not shown to the model. */
  readonly topic: string
  readonly question: string
  readonly thought: string
  /**
   * The example's workflow. It works with any pool, because indices beyond the pool size wrap around. With `"binary"`
   * access, access lists with step indices are shown as `"all"`.
   */
  readonly workflow: Workflow.Workflow
}

/**
 * The wording of the prompt. Placeholders in braces are replaced; each field documents the placeholders that it
 * supports. An empty string or list omits the section.
 */
export interface Template {
  /** Describes the Conductor's role. */
  readonly role: string
  /** Supports `{steps}`, `{access}` and `{subtasks}`, which insert the sentences below that match the options. */
  readonly rules: ReadonlyArray<string>
  readonly access: { readonly [form in AccessForm]: string }
  readonly subtasks: { readonly written: string; readonly blank: string }
  /**
   * Describes the output format. Supports `{number}`, the number of required lists as a word; `{exactly}`, which
   * inserts "exactly" if no other lists are allowed; and `{how}`, a line for the `how` list if it is allowed.
   */
  readonly format: string
  /** Supports `{number}`, `{question}`, `{thought}` and `{workflow}`. */
  readonly example: string
  /** Supports `{count}` and `{models}`, the list of models with one per line. */
  readonly pool: string
  /**
   * A line in the list of models. Supports `{model}`, the index; `{description}`, the description on one line, if
   * descriptions are shown; `{quoted}`, the description as a JSON string; and `{price}`, in USD per million output
   * tokens, or `unknown`. `failed` is used for models that returned no answer in an earlier round; if omitted, these
   * are not distinguished.
   */
  readonly model: { readonly described: string; readonly numbered: string; readonly failed?: string | undefined }
  /** Supports `{model}`, the index of the Conductor in its own pool. */
  readonly self: string
  /** Supports `{conversation}`: the system message and the turns before the question, if any. */
  readonly conversation: string
  /** Supports `{question}`, and `{quoted}`, the question as a JSON string. */
  readonly question: string
  /**
   * Lists the models with a required capability. Supports `{what}`, the capability, such as "call the tools weather,
   * clock"; and `{models}`, the indices of these models. If omitted, the prompt does not mention capabilities.
   */
  readonly ability?: string | undefined
  /**
   * Describes the previous round and the model's options, in a recursive round. Supports `{workflow}`, `{answer}` and
   * `{feedback}`.
   */
  readonly recursion: string
  /**
   * Replaces `recursion` if the previous round has no usable answer. Supports `{workflow}`. Defaults to `recursion`.
   */
  readonly failure?: string | undefined
  /**
   * Replaces `recursion` if a model refused to answer. Supports `{workflow}` and `{answer}`, the text of the refusal.
   * Defaults to `recursion`.
   */
  readonly refusal?: string | undefined
  /**
   * Explains the syntax of checks if the run has any. Supports `{checks}`. If omitted, the prompt does not mention
   * checks and they are not parsed.
   */
  readonly checks?: string | undefined
  /**
   * Explains the `how` list if the `how` option is set: its line in the output format, and its clauses. Supports
   * `{gives}`, `{tools}` and `{checks}`, which insert the sentences below if the run has output formats (`{shapes}`),
   * tools (`{tools}`) or checks. If omitted, the prompt does not mention the list and it is not parsed.
   */
  readonly how?:
    | {
        /** If omitted, the list is not part of the output format; `text` must then describe its syntax. */
        readonly list?: string | undefined
        readonly text: string
        readonly gives: string
        readonly tools: string
        readonly checks: string
      }
    | undefined
  /**
   * The role and the instructions for answering directly, used if `mayAnswer` is set. If omitted, the prompt does not
   * mention direct answers and they are not parsed.
   */
  readonly answer?: { readonly role: string; readonly text: string } | undefined
  /**
   * Describes a round in which answers failed their checks. Supports `{workflow}`, `{returned}` and `{objections}`. If
   * omitted, the round is described as in a recursive round.
   */
  readonly evidence?: string | undefined
  /** Supports `{feedback}`, a critic's feedback. */
  readonly feedback: string
  /**
   * Final instruction, after the question. Supports `{lists}`, which inserts "the three lists" or the permitted
   * alternatives.
   */
  readonly closing: string
  /** Message to the model if its text could not be parsed. Supports `{error}` and `{lists}`. */
  readonly correction: string
}

/** The permitted access lists: `"binary"` allows all earlier steps or none, `"fine-grained"` allows any subset. */
export type AccessForm = "binary" | "fine-grained"

/** Options for prompting a language policy. The defaults follow the paper. */
export interface ConductorOptions {
  readonly template?: Template | undefined
  /**
   * Few-shot examples. Defaults to {@link outOfDistributionExamples}, plus {@link mapExample} if the `how` list is
   * allowed. Examples with more than `maxSteps` steps are dropped.
   */
  readonly examples?: ReadonlyArray<Example> | undefined
  /** Default: `"binary"`. */
  readonly access?: AccessForm | undefined
  /** Whether to show the workers' descriptions in addition to their indices. Default: `false`. */
  readonly descriptions?: boolean | undefined
  /**
   * Whether steps have subtasks. Set to `false` for the ablation in which every worker receives only the question.
   * Default: `true`.
   */
  readonly subtasks?: boolean | undefined
  /**
   * Whether steps may have items, conditions, quorums, settings and a choice of tools, written as the `how` list (see
   * `WorkflowText.read`). Default: `false`, as in the paper.
   */
  readonly how?: boolean | undefined
  /** Whether the Conductor may answer easy questions itself. Default: `false`, as in the paper. */
  readonly mayAnswer?: boolean | undefined
}

/** The part of a policy's context that the prompt depends on. */
export type ConductorContext = Pick<
  Policy.Context,
  "task" | "pool" | "maxSteps" | "self" | "previous" | "tools" | "checks" | "shapes" | "evidence"
>

// -------------------------------------------------------------------------------------------------------------------
// Conductor messages
// -------------------------------------------------------------------------------------------------------------------

/** Replaces placeholders in a single pass, so that inserted text is never interpreted as a placeholder. */
const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole))

const count = (amount: number, noun: string) => `${amount} ${noun}${amount === 1 ? "" : "s"}`

/** Formats a workflow as text, with the lists in the order in which the Conductor writes them. */
const lists = (workflow: Workflow.Workflow, options?: ConductorOptions) =>
  WorkflowText.write(workflow, { how: mentionsHow(options) || undefined }).trimEnd()

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim()

/** Adapts an example's workflow to the pool size and the access form. */
const adapt = (workflow: Workflow.Workflow, poolSize: number, options: ConductorOptions): Workflow.Workflow => ({
  steps: workflow.steps.map(({ access, subtask, worker, ...more }) => ({
    ...more,
    worker: worker % poolSize,
    subtask: options.subtasks === false ? "" : subtask,
    access: options.access === "fine-grained" || access.length === 0 ? access : "all"
  }))
})

const rules = (template: Template, { maxSteps }: ConductorContext, options: ConductorOptions): string => {
  const values = {
    steps: maxSteps === 1 ? "1 step" : `1 to ${maxSteps} steps`,
    access: template.access[options.access ?? "binary"],
    subtasks: options.subtasks === false ? template.subtasks.blank : template.subtasks.written
  }
  if (template.rules.length === 0) return ""
  return ["Rules:", ...template.rules.map((rule) => `- ${fill(rule, values)}`)].join("\n")
}

const defaultExamples = (options: ConductorOptions): ReadonlyArray<Example> =>
  mentionsHow(options) ? [...outOfDistributionExamples, mapExample] : outOfDistributionExamples

const examples = (template: Template, context: ConductorContext, options: ConductorOptions): ReadonlyArray<string> =>
  (options.examples ?? defaultExamples(options))
    .filter(({ workflow }) => workflow.steps.length <= context.maxSteps)
    .map(({ question, thought, workflow }, index) =>
      fill(template.example, {
        number: index + 1,
        question,
        thought,
        workflow: lists(adapt(workflow, WorkerPool.size(context.pool), options), options)
      })
    )

const pool = (template: Template, context: ConductorContext, { descriptions = false }: ConductorOptions): string => {
  const { described, failed, numbered } = template.model
  const models = context.pool.workers.map(({ description = "", pricing }, ordinal) => {
    const isDescribed = descriptions && description !== ""
    const whole = isDescribed ? described : numbered
    const wording = context.previous?.failed.includes(ordinal) ? (failed ?? whole) : whole
    return fill(wording, {
      model: ordinal,
      description: oneLine(description),
      quoted: JSON.stringify(description),
      price: pricing?.outputPerMillion ?? "unknown"
    })
  })
  if (context.self) models.push(fill(template.self, { model: models.length }))
  return fill(template.pool, { count: count(models.length, "model"), models: models.join("\n") })
}

const recursion = (
  template: Template,
  { answer, feedback, workflow }: Policy.Previous,
  options: ConductorOptions
): string => {
  const wordings = { answered: template.recursion, refused: template.refusal, failed: template.failure }
  return fill(wordings[answer.type] ?? template.recursion, {
    workflow: lists(workflow, options),
    // The reason for the failure is omitted, because it could reveal the worker's name. Failed workers are marked by
    // index in the list of models.
    answer: answer.type === "failed" ? "None: its last step failed." : answer.text,
    feedback: feedback === undefined ? "" : fill(template.feedback, { feedback })
  })
}

/** Returns the template's wording for the lists that may be written. */
const writable = (context: Pick<ConductorContext, "checks">, options: ConductorOptions) => {
  const { how } = options.template ?? defaultTemplate
  const hasChecks = mentionsChecks(context, options)
  const line = mentionsHow(options) ? how?.list : undefined
  const number = line === undefined ? "three" : "four"
  return {
    number,
    exactly: hasChecks ? "" : "exactly ",
    how: line === undefined ? "" : `${line}\n`,
    lists: `the ${hasChecks ? "" : `${number} `}lists${mentionsAnswer(options) ? ", or the answer" : ""}`
  }
}

const howSection = (context: ConductorContext, options: ConductorOptions): ReadonlyArray<string> => {
  const { how } = options.template ?? defaultTemplate
  if (how === undefined || !mentionsHow(options)) return []
  const { shapes = [], tools = [] } = context
  const text = fill(how.text, {
    gives: shapes.length === 0 ? "" : fill(how.gives, { shapes: shapes.join(", ") }),
    tools: tools.length === 0 ? "" : fill(how.tools, { tools: tools.join(", ") }),
    checks: mentionsChecks(context, options) ? how.checks : ""
  })
  return [text]
}

/** Formats step results, labeled as in access lists. Workers are identified by index. */
const returned = (rounds: ReadonlyArray<StepMessages.PastRound>): string =>
  rounds
    .flatMap(({ answers, workflow }, round) =>
      workflow.steps.flatMap(({ worker }, step) => {
        const answer = answers[step]
        if (answer === undefined) return []
        const text = answer.type === "failed" ? "(no answer)" : answer.text
        return [`"${round}.${step}" (Model ${worker}):\n${text}`]
      })
    )
    .join("\n\n")

/** Formats the previous rounds, or the current one, for the policy. */
const before = (
  template: Template,
  { evidence, previous }: ConductorContext,
  options: ConductorOptions
): ReadonlyArray<string> => {
  if (previous === undefined) return []
  if (evidence === undefined || template.evidence === undefined) return [recursion(template, previous, options)]
  const objections = evidence.failed.map(({ objection, step }) => `Step ${step} failed its check: ${objection}`)
  const shown = { workflow: lists(previous.workflow, options), returned: returned(previous.rounds ?? []) }
  return [fill(template.evidence, { ...shown, objections: objections.join("\n") })]
}

/**
 * Lists which workers have the capabilities required by the question. The policy sees the names of tools, but never
 * their schemas.
 */
const abilities = (
  { ability }: Template,
  { pool: { workers }, task, tools = [] }: ConductorContext
): ReadonlyArray<string> => {
  if (ability === undefined) return []
  const parts = new Set(task.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content)))
  const types = new Set(Array.from(parts, ({ type }) => type))
  const needed = [
    ...(tools.length === 0 ? [] : [["tools", `call the tools ${tools.join(", ")}`] as const]),
    ...(types.has("image") ? [["images", "see the pictures of the question"] as const] : []),
    ...(types.has("file") ? [["files", "read the files of the question"] as const] : [])
  ]
  return needed.map(([kind, what]) => {
    const able = workers.flatMap(({ capabilities }, ordinal) => (capabilities?.[kind] === true ? [ordinal] : []))
    return fill(ability, { what, models: able.length === 0 ? "none" : able.join(", ") })
  })
}

/** Joins all non-empty sections. */
const sections = (texts: ReadonlyArray<string>): string => texts.filter((text) => text !== "").join("\n\n")

/**
 * Renders the prompt that asks a language policy for a workflow.
 *
 * **Details**
 *
 * The system message contains the rules, the output format, the examples and the pool, in this order. It is the same
 * for all runs with the same pool, so a model with a KV cache evaluates it only once. The user message contains the
 * question. In a recursive round, it also contains the previous workflow, its answer and the critic's feedback; if
 * answers failed their checks, it contains the results of all steps up to that point. After a worker has failed, later
 * rounds mark it in the list of workers. Workers are identified by index, never by name.
 *
 * **Example**
 *
 * ```ts
 * import { Prompt } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as Task from "@divisi/core/Task"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 *
 * const messages = Prompt.conductorMessages({
 *   task: Task.make("Why is the sky blue?"),
 *   pool: WorkerPool.makeUnsafe([ScriptedWorker.echo("a"), ScriptedWorker.echo("b")]),
 *   maxSteps: 5,
 *   self: false
 * })
 * messages.map((message) => message.role) // => ["system", "user"]
 * ```
 */
export const conductorMessages = (
  context: ConductorContext,
  options: ConductorOptions = {}
): ReadonlyArray<PlainMessage> => {
  const template = options.template ?? defaultTemplate
  const turns = background(context.task).map(turnText)
  const question = Task.question(context.task)
  const answer = mentionsAnswer(options) ? template.answer : undefined
  const forms = writable(context, options)
  const system = [
    answer?.role ?? template.role,
    rules(template, context, options),
    fill(template.format, forms),
    ...(mentionsChecks(context, options)
      ? [fill(template.checks!, { checks: context.checks!.map((name) => `"${name}"`).join(", ") })]
      : []),
    ...howSection(context, options),
    ...(answer === undefined ? [] : [answer.text]),
    ...examples(template, context, options),
    pool(template, context, options)
  ]
  const asked = [
    ...(turns.length === 0 ? [] : [fill(template.conversation, { conversation: turns.join("\n\n") })]),
    fill(template.question, { question, quoted: JSON.stringify(question) }),
    ...abilities(template, context),
    ...before(template, context, options),
    fill(template.closing, forms)
  ]
  return [{ role: "system", content: sections(system) }, user(sections(asked))]
}

/** Formats a conversation turn for the policy. */
const turnText = (message: Message): string => {
  const said = text(message)
  if (message.role === "tool") return `[tool ${message.name}] ${said}`
  if (message.role !== "assistant" || message.toolCalls === undefined) return `[${message.role}] ${said}`
  const called = message.toolCalls.map((call) => `called ${call.name}(${call.arguments})`)
  return `[assistant] ${[said, ...called].filter((part) => part !== "").join("\n")}`
}

/**
 * Returns the messages that follow a completion that could not be parsed: the completion itself and the parse error.
 */
export const correctionMessages = (
  completion: string,
  error: string,
  options: ConductorOptions = {},
  context: Pick<ConductorContext, "checks"> = {}
): ReadonlyArray<PlainMessage> => [
  assistant(completion === "" ? "(nothing)" : completion),
  user(fill((options.template ?? defaultTemplate).correction, { ...writable(context, options), error }))
]
