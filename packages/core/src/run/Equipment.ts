/**
 * The resources of a run for its workers: tools, output format, and results from before it was resumed.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { WaitingCall } from "../events/RunEvent.ts"
import type * as Recorded from "../journal/RecordedRun.ts"
import { listShape } from "../loop/lists.ts"
import { onDemand } from "../OnDemand.ts"
import type { ShapeError } from "../task/compileShape.ts"
import * as Message from "../task/Message.ts"
import type { Task } from "../task/Task.ts"
import type { Given, Tool, ToolChoice, ToolContext } from "../task/Tool.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import { listOf } from "../workflow/program.ts"
import type { Step, Workflow } from "../workflow/Workflow.ts"
import { mediaOf, missing, type Unsupported as UnsupportedMode } from "./Capabilities.ts"
import type { Options, RunOptions } from "./Conductor.ts"
import type { ToolAccess } from "./RunSettings.ts"
import type * as Toolbox from "./Toolbox.ts"

/** Decides whether a tool may run. */
export type Approve = (request: ToolContext) => Effect.Effect<boolean>

/** Decides whether a plan may run, or returns the text of another plan. */
export type ApprovePlan = (plan: WaitingCall) => Effect.Effect<Given>

/** The resources of a run for the workers of its steps. */
export interface Equipment {
  readonly runId: string
  /** A prefix for the ids of pending calls, used by nested runs. */
  readonly path: string
  readonly tools: Toolbox.Toolbox | undefined
  readonly toolChoice: ToolChoice | undefined
  readonly parallelToolCalls: boolean | undefined
  readonly shape: Toolbox.AnswerShape | undefined
  /** The shapes that steps may request, by name. */
  readonly shapes?: ReadonlyMap<string, Toolbox.AnswerShape> | undefined
  readonly maxToolRounds: number
  readonly unsupported: UnsupportedMode
  readonly approve: Approve | undefined
  /** Returns the record of a call in an earlier segment of the run. */
  readonly known: ((id: string) => Recorded.KnownTool | undefined) | undefined
  /** The caller's results for pending calls. */
  readonly given: Readonly<Record<string, Given>>
}

/** The resources of a step: its tools, and the shape that its answer must have. */
export interface Offered {
  readonly hasTools: boolean
  /** The names of the tools that it may call. If absent, all tools of the run. */
  readonly only?: ReadonlyArray<string> | undefined
  readonly shape: Toolbox.AnswerShape | undefined
  /** Whether its worker answers again in the same conversation after a failed check. */
  readonly isRepeated: boolean
}

/**
 * The error for a question that cannot be sent unchanged, or a pool without a worker that has the needed capabilities.
 */
export class Unsupported extends Data.TaggedError("Unsupported")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** Loads the code for tools and shapes on first use. */
export const withToolbox = onDemand(() => import("./Toolbox.ts"))

const defaultToolRounds = 16

/** Returns the resources of a run before its tools are prepared. */
export const equipmentOf = (
  runId: string,
  path: string,
  { maxToolRounds = defaultToolRounds, unsupported = "error" }: Options,
  { approve, parallelToolCalls, resume, toolChoice }: RunOptions,
  recorded: Recorded.Recorded | undefined
): Equipment => ({
  runId,
  path,
  tools: undefined,
  toolChoice,
  parallelToolCalls,
  shape: undefined,
  maxToolRounds,
  unsupported,
  approve,
  known: recorded && ((id) => recorded.tool(id.slice(path.length))),
  given: resume?.results ?? {}
})

/**
 * Returns the problem of input that no vendor would accept although its types may allow it: pieces of content, and the
 * tool choice.
 */
const wrongIn = (task: Task, tools: ReadonlyArray<Tool>, choice: ToolChoice | undefined): string | undefined => {
  for (const [at, { content }] of task.messages.entries()) {
    if (typeof content === "string") continue
    const problem = Message.problemOf(content)
    if (problem !== undefined) return `Message ${at + 1} cannot be sent: ${problem}.`
  }
  if (typeof choice !== "object") return undefined
  const names = tools.map(({ name }) => name)
  if (names.includes(choice.name)) return undefined
  return `toolChoice names the tool "${choice.name}", which does not exist. Tools: ${names.join(", ") || "none"}.`
}

/** Returns the names of a run's tools. */
export const toolNamesOf = (
  { toolAccess, tools: own = [] }: Options,
  { tools = own }: Pick<RunOptions, "tools">
): ReadonlyArray<string> => (toolAccess === "none" ? [] : tools.map(({ name }) => name))

/**
 * Prepares tools and shapes, and checks that the pool has the needed capabilities, before anything is paid. A run that
 * started with tools has a toolbox even if all of them were removed later, because its workers may have called them.
 */
export const ready = (
  equipment: Equipment,
  toolNames: ReadonlyArray<string>,
  options: Options,
  { output, tools: given = options.tools ?? [] }: RunOptions,
  task: Task,
  pool: WorkerPool
): Effect.Effect<Equipment, ShapeError | Unsupported> => {
  const wrong = wrongIn(task, given, equipment.toolChoice)
  if (wrong !== undefined) return Effect.fail(new Unsupported({ detail: wrong }))
  // If no worker may call tools, the tools are not mentioned.
  const tools = options.toolAccess === "none" ? [] : given
  const needed: Set<"images" | "files" | "tools"> = new Set(mediaOf(task.messages))
  if (tools.length > 0) needed.add("tools")
  if (needed.size > 0 && equipment.unsupported === "error") {
    const detail = missing(pool.workers, needed)
    if (detail !== undefined) return Effect.fail(new Unsupported({ detail }))
  }
  const hasTools = tools.length > 0 || toolNames.length > 0
  const { shapes = {} } = options
  const named = Object.entries(shapes)
  if (!hasTools && output === undefined && named.length === 0) return Effect.succeed(equipment)
  return withToolbox(({ answerShape, toolbox }) =>
    Effect.gen(function* () {
      const shape = output && (yield* answerShape(output))
      const given = new Map<string, Toolbox.AnswerShape>()
      for (const [name, schema] of named) {
        const one = yield* answerShape({ type: "json-schema", name, schema })
        if (one !== undefined) given.set(name, one)
      }
      return { ...equipment, shape, shapes: given, tools: hasTools ? yield* toolbox(tools) : undefined }
    })
  )
}

/** Returns the shape of a step's intermediate answer. */
const shapeOf = ({ shapes }: Equipment, { gives }: Step): Toolbox.AnswerShape | undefined => {
  if (gives !== undefined && "shape" in gives) return shapes?.get(gives.shape)
  const most = listOf(gives)
  return most === undefined ? undefined : listShape(most)
}

/** Returns the tools and the answer shape of a step: the run's, or its own. */
export const offeredTo = (equipment: Equipment, toolAccess: ToolAccess, workflow: Workflow, step: number): Offered => {
  const own = workflow.steps[step]!
  const { check, tools } = own
  const isLast = step === workflow.steps.length - 1
  const mayCall =
    toolAccess === "policy"
      ? tools !== undefined && tools !== false
      : toolAccess === "every-step" || (toolAccess === "last-step" && isLast)
  return {
    hasTools: equipment.tools !== undefined && mayCall,
    only: typeof tools === "object" ? tools : undefined,
    shape: ((isLast || workflow.answer === "majority") && equipment.shape) || shapeOf(equipment, own),
    isRepeated: check?.onFailure === "again"
  }
}
