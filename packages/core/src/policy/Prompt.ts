/**
 * Prompts for language policies.
 *
 * Rendering is pure: equal inputs give equal messages, so prompts can be snapshot-tested, cached and trained on. The
 * wording is data: a {@link Template} and a list of {@link Example}s, both of which can be replaced.
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
import { defaultTemplate } from "./promptTemplate.ts"

export { shapeCorrectionMessages, toolTurnMessages, workerMessages } from "../workflow/StepMessages.ts"
export { inDistributionExamples, mapExample, mixedExamples, outOfDistributionExamples } from "./promptExamples.ts"
export { defaultTemplate, emptyTemplate } from "./promptTemplate.ts"

// Handed on by `export type { … } from`, they would be values in the declarations of a barrel.
/** The result of a step. */
export type StepAnswer = StepMessages.StepAnswer
/** The input of a step, as its worker will see it. */
export type WorkerView = StepMessages.WorkerView

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A few-shot example for a language policy: a question, the reasoning about it, and the resulting workflow. */
export interface Example {
  /** The topic of the question, for selecting examples. It is not shown to the model. */
  readonly topic: string
  readonly question: string
  readonly thought: string
  /**
   * The workflow fits any pool: an index beyond the pool wraps around. In the binary form, an access list with step
   * indices is shown as `"all"`.
   */
  readonly workflow: Workflow.Workflow
}

/**
 * The wording of the prompt. Placeholders in braces are filled in; the comment on each field lists the ones that it may
 * use. An empty text or list of rules omits its section.
 */
export interface Template {
  /** A description of the Conductor's role. */
  readonly role: string
  /** `{steps}`, `{access}` and `{subtasks}`: the sentences below that apply to the options. */
  readonly rules: ReadonlyArray<string>
  readonly access: { readonly [form in AccessForm]: string }
  readonly subtasks: { readonly written: string; readonly blank: string }
  /**
   * How to answer. `{number}`, the number of lists that every plan has, in words; `{exactly}`, the word if there are no
   * others; `{how}`, a line of its own with the list `how`, if it may be written.
   */
  readonly format: string
  /** `{number}`, `{question}`, `{thought}`, `{workflow}`. */
  readonly example: string
  /** `{count}`, `{models}`: the list of models, one per line. */
  readonly pool: string
  /**
   * A line of the list of models. `{model}` is its index; `{description}`, if workers are described, is the description
   * on one line, and `{quoted}` the description as a JSON string; `{price}` is USD per million output tokens, or
   * `unknown`. `failed` is used for a model that gave no answer in an earlier round; if absent, such a model is shown
   * like the others.
   */
  readonly model: { readonly described: string; readonly numbered: string; readonly failed?: string | undefined }
  /** `{model}`: the index of the Conductor in its own pool. */
  readonly self: string
  /** `{conversation}`: the system message and the turns before the question, if any. */
  readonly conversation: string
  /** `{question}`; `{quoted}`, the question as a JSON string. */
  readonly question: string
  /**
   * `{what}`: the capability, such as "call the tools weather, clock"; `{models}`: the indices of the capable models.
   * If absent, capabilities are not mentioned.
   */
  readonly ability?: string | undefined
  /**
   * `{workflow}`, `{answer}`, `{feedback}`: the previous round as shown in a recursive round, and the model's options.
   */
  readonly recursion: string
  /** `{workflow}`: used instead of `recursion` if the previous round has no usable answer. Default: `recursion`. */
  readonly failure?: string | undefined
  /**
   * `{workflow}`, `{answer}`: used instead of `recursion` if a model declined, with the text of the refusal. Default:
   * `recursion`.
   */
  readonly refusal?: string | undefined
  /**
   * `{checks}`: the syntax of checks in a workflow, used if the run has checks. If absent, checks are not mentioned and
   * not read.
   */
  readonly checks?: string | undefined
  /**
   * The list `how`, used with the option `how`: its line of the format, and its clauses. `{gives}`, `{tools}` and
   * `{checks}`: the sentences below, if the run has shapes (`{shapes}`), tools (`{tools}`) or checks. If absent, the list
   * is not mentioned and not parsed.
   */
  readonly how?:
    | {
        /** If absent, the list is not part of the format, and the clauses describe its syntax. */
        readonly list?: string | undefined
        readonly text: string
        readonly gives: string
        readonly tools: string
        readonly checks: string
      }
    | undefined
  /**
   * The role and the instructions for a direct answer by the Conductor, used with the option `mayAnswer`. If absent,
   * such answers are neither mentioned nor parsed.
   */
  readonly answer?: { readonly role: string; readonly text: string } | undefined
  /**
   * `{workflow}`, `{returned}`, `{objections}`: the state of a round in which answers failed their checks. Default: as
   * for a recursive round.
   */
  readonly evidence?: string | undefined
  /** `{feedback}`: a critic's feedback, if any. */
  readonly feedback: string
  /** The closing instruction, after the question. `{lists}`: "the three lists", or what may be written instead. */
  readonly closing: string
  /** `{error}`, `{lists}`: the message to the model if its text could not be parsed. */
  readonly correction: string
}

/** How access lists are written: `"binary"` allows `"all"` or none, `"fine-grained"` also any earlier steps. */
export type AccessForm = "binary" | "fine-grained"

/** How a language policy is prompted. The defaults follow the paper. */
export interface ConductorOptions {
  readonly template?: Template | undefined
  /**
   * The examples to show. Default: {@link outOfDistributionExamples}, plus {@link mapExample} if the list `how` is
   * allowed. Examples with more than `maxSteps` steps are omitted.
   */
  readonly examples?: ReadonlyArray<Example> | undefined
  /** Default: `"binary"`. */
  readonly access?: AccessForm | undefined
  /** Whether to show descriptions of workers in addition to their indices. Default: `false`. */
  readonly descriptions?: boolean | undefined
  /**
   * Whether steps have subtasks. Default: `true`. Use `false` for the ablation in which every worker receives the plain
   * question.
   */
  readonly subtasks?: boolean | undefined
  /**
   * Whether steps may have items, conditions, quorums, settings and a choice of tools, written as the list `how`
   * (`WorkflowText.read`). Default: `false`, as in the paper.
   */
  readonly how?: boolean | undefined
  /** Whether the Conductor may answer an easy question directly. Default: `false`, as in the paper. */
  readonly mayAnswer?: boolean | undefined
}

/** The input of a prompt: the part of a policy's context that the prompt shows. */
export type ConductorContext = Pick<
  Policy.Context,
  "task" | "pool" | "maxSteps" | "self" | "previous" | "tools" | "checks" | "shapes" | "evidence"
>

// -------------------------------------------------------------------------------------------------------------------
// Conductor messages
// -------------------------------------------------------------------------------------------------------------------

/** Replaces placeholders in braces in one pass, so that inserted text is not searched again. */
const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole))

const count = (amount: number, noun: string) => `${amount} ${noun}${amount === 1 ? "" : "s"}`

/** Formats a workflow as the lists that a Conductor writes, in their order. */
const lists = (workflow: Workflow.Workflow, options?: ConductorOptions) =>
  WorkflowText.write(workflow, { how: mentionsHow(options) || undefined }).trimEnd()

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim()

/** Adapts an example's workflow to the pool and the access form. */
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
    // The reason of the failure is omitted, because it would name its worker. The list of models marks failed workers
    // by ordinal.
    answer: answer.type === "failed" ? "None: its last step failed." : answer.text,
    feedback: feedback === undefined ? "" : fill(template.feedback, { feedback })
  })
}

/** Whether the prompt lists the available checks, so that the policy may use them. */
export const mentionsChecks = (
  { checks = [] }: Pick<ConductorContext, "checks">,
  { template }: ConductorOptions = {}
): boolean => checks.length > 0 && (template ?? defaultTemplate).checks !== undefined

/** Whether the prompt explains the list `how`, so that the policy may write it. */
export const mentionsHow = ({ how, template }: ConductorOptions = {}): boolean =>
  how === true && (template ?? defaultTemplate).how !== undefined

/** Whether the prompt allows a policy to answer directly. */
export const mentionsAnswer = ({ mayAnswer, template }: ConductorOptions = {}): boolean =>
  mayAnswer === true && (template ?? defaultTemplate).answer !== undefined

/** Returns the lists that may be written, in the words of the template. */
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

/** Formats the results of steps under the names that access lists use. Workers appear by their numbers. */
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

/** Formats the previous rounds, or the current one, for a policy. */
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
 * Formats which workers have the capabilities that the question needs in addition to text. A policy sees the names of
 * tools, never their schemas.
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

/** Joins the sections, without empty ones. */
const sections = (texts: ReadonlyArray<string>): string => texts.filter((text) => text !== "").join("\n\n")

/**
 * Returns the messages that ask a language policy for a workflow.
 *
 * **Details**
 *
 * The system message contains the rules, the output format, the examples and the pool, in this order. The user's
 * message contains the question. In a recursive round it also contains the previous workflow, its answer and a critic's
 * feedback. If answers failed their checks, it contains the results of all steps so far. All runs over one pool
 * therefore share the system message, and a model with a KV cache evaluates it once. After a worker has failed, the
 * list of workers in later rounds says so. Workers are shown by index, never by name.
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

/** Formats a turn of the conversation for a policy. */
const turnText = (message: Message): string => {
  const said = text(message)
  if (message.role === "tool") return `[tool ${message.name}] ${said}`
  if (message.role !== "assistant" || message.toolCalls === undefined) return `[${message.role}] ${said}`
  const called = message.toolCalls.map((call) => `called ${call.name}(${call.arguments})`)
  return `[assistant] ${[said, ...called].filter((part) => part !== "").join("\n")}`
}

/** Returns the turns that follow a completion that could not be parsed: the completion and the parse error. */
export const correctionMessages = (
  completion: string,
  error: string,
  options: ConductorOptions = {},
  context: Pick<ConductorContext, "checks"> = {}
): ReadonlyArray<PlainMessage> => [
  assistant(completion === "" ? "(nothing)" : completion),
  user(fill((options.template ?? defaultTemplate).correction, { ...writable(context, options), error }))
]
