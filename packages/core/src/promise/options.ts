/** Validation of the options for `conduct` and the other functions that start runs. */
import { isObject } from "../Fields.ts"
import * as Options from "../Options.ts"
import { isFormat, settingsRules, settingsTable } from "../run/tables.ts"
import * as Task from "../task/Task.ts"
import { isName, type NamedShape, nameRule } from "../task/Tool.ts"
import type { Worker } from "../task/Worker.ts"
import type { ConductOptions } from "./runs.ts"

const isFunction = (value: unknown): boolean => typeof value === "function"

const has = (value: unknown, member: string, test: (value: unknown) => boolean): boolean =>
  isObject(value) && member in value && test((value as Record<string, unknown>)[member])

const isText = (value: unknown): boolean => typeof value === "string"

/**
 * Returns an error message if a pool entry is not a worker, with a hint on how to create one. Returns `undefined` for a
 * valid worker.
 */
const strangerOf = (value: unknown): string | undefined => {
  const { generate, id } = isObject(value) ? (value as Partial<Worker>) : {}
  if (typeof generate === "function" && typeof id === "string") return undefined
  const kind = Options.kindOf(value)
  if (typeof value === "string") return `${kind}; create a worker from it, for example with openai("gpt-6.1-sol")`
  const isAnswer = typeof value === "function" || (isObject(value) && "answer" in value)
  return isAnswer ? `${kind}; create a worker from it with worker({ id, answer })` : kind
}

const isAsked = (value: unknown): boolean => isContent(value) && !(typeof value === "string" && value.trim() === "")

const isQuestion = (value: unknown): boolean =>
  isAsked(value) ||
  has(value, "question", isAsked) ||
  has(value, "messages", (messages) => Array.isArray(messages) && messages.length > 0 && messages.every(isMessage))

const isContent = (value: unknown): boolean =>
  isText(value) || (Array.isArray(value) && value.length > 0 && value.every((part) => has(part, "type", isText)))

const isMessage = (value: unknown): boolean => has(value, "role", isText) && has(value, "content", isContent)

const namedShape = Options.table(
  {
    type: Options.oneOf("json-schema"),
    name: Options.expects(`a name (${nameRule})`, isName),
    description: Options.text,
    schema: Options.anything,
    strict: Options.flag
  } satisfies Options.ShapeOf<NamedShape>,
  { required: ["name", "schema"] }
)

const shape = {
  ...settingsTable,
  question: Options.expects(Task.forms, isQuestion),
  pool: Options.expects("a list of workers", Array.isArray),
  policy: Options.madeBy("a policy, such as single(0)", "propose"),
  signal: Options.expects(
    "an AbortSignal",
    (value) => has(value, "aborted", () => true) && has(value, "addEventListener", isFunction)
  ),
  onEvent: Options.aFunction,
  telemetry: Options.madeBy("a result of openTelemetry()", "listener"),
  cache: Options.madeBy("a cache, such as memoryCache()", "lookup"),
  gate: Options.madeBy("a gate from openGate()", "enter"),
  toolChoice: Options.expects(
    '"auto", "none", "required" or the name of a tool, { name }',
    (value) => ["auto", "none", "required"].includes(value as string) || has(value, "name", isText)
  ),
  parallelToolCalls: Options.flag,
  output: Options.expects(
    'a schema, { type: "json-schema", name, schema } or { type: "json" }',
    (value) => isObject(value) || typeof value === "function"
  ),
  approve: Options.aFunction,
  approvePlan: Options.aFunction,
  resume: Options.anObject,
  runId: Options.runId,
  ledger: Options.madeBy("a ledger, such as ledger({ costUsd })", "reserve"),
  payer: Options.anObject,
  cachedAnswers: Options.oneOf("free", "charged"),
  journal: Options.madeBy("a journal from openJournal()", "append")
} satisfies Options.ShapeOf<ConductOptions>

const table = Options.table(shape, { required: ["question", "pool"], rules: settingsRules })

/** Options of functions that read the question from a record. */
const recordedTable: Options.Table = { ...table, required: ["pool"] }

const roles = Options.oneOf("system", "developer", "user", "assistant", "tool")

/** Returns what is wrong with the roles of a conversation. */
const problemOfRoles = (question: Task.Input): string | undefined => {
  if (typeof question === "string" || !("messages" in question)) return undefined
  const at = "question.messages"
  for (const [index, { role }] of question.messages.entries()) {
    const problem = Options.problemOf(role, roles, `${at}[${index}].role`)
    if (problem !== undefined) return problem
  }
  return question.messages.at(-1)?.role === "assistant"
    ? `"${at}" must end with a message from the user or a tool, not from the assistant.`
    : undefined
}

type Given = Omit<ConductOptions, "question"> & Partial<Pick<ConductOptions, "question">>

const tableOf = (own: Options.Shape | undefined): Options.Table =>
  own === undefined ? table : { ...recordedTable, shape: { ...shape, ...own } }

/**
 * Throws an `OptionsError` if the options are invalid. `what` is the function that the caller used, and `own` has the
 * options that it takes and validates in addition, for suggestions.
 */
const check = (what: string, options: Given, own: Options.Shape | undefined): void => {
  Options.check(what, options, tableOf(own))
  const { output, question, resume } = options
  const refuse = (detail: string | undefined) => {
    if (detail !== undefined) throw new Options.OptionsError({ what, detail })
  }
  if (question !== undefined && resume === undefined) refuse(problemOfRoles(question))
  if (output !== undefined && isFormat(output) && output.type === "json-schema") {
    refuse(Options.problemOf(output, namedShape, "output"))
  }
  for (const [at, member] of options.pool.entries()) {
    const stranger = strangerOf(member)
    if (stranger !== undefined) refuse(`"pool[${at}]" must be a worker, not ${stranger}.`)
  }
}

/**
 * Returns `undefined` for valid options, and otherwise a promise that is rejected with an `OptionsError`. The error for
 * an unknown option names the option to use here if the name is from another library.
 */
export const refusalOf = (what: string, options: Given, own?: Options.Shape): Promise<never> | undefined => {
  try {
    check(what, options, own)
    return undefined
  } catch (error) {
    return import("./habits.ts").then(({ called }) => {
      Options.check(what, options, { ...tableOf(own), called })
      throw error
    })
  }
}
