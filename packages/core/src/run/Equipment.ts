/** Everything that a run provides to its workers: tools, the output format, and results recorded before a resume. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { WaitingCall } from "../events/RunEvent.ts"
import type * as Recorded from "../journal/RecordedRun.ts"
import { listShape } from "../loop/lists.ts"
import { onDemand } from "../OnDemand.ts"
import type { ShapeError } from "../task/compileShape.ts"
import type { Task } from "../task/Task.ts"
import type { Given, ToolChoice, ToolContext } from "../task/Tool.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import { listOf } from "../workflow/program.ts"
import type { Step, Workflow } from "../workflow/Workflow.ts"
import type { Unsupported as UnsupportedMode } from "./Capabilities.ts"
import type { Options, RunOptions } from "./Conductor.ts"
import type { ToolAccess } from "./RunSettings.ts"
import type * as Toolbox from "./Toolbox.ts"

/** Decides whether a tool call may be executed. */
export type Approve = (request: ToolContext) => Effect.Effect<boolean>

/** Decides whether a plan may run, or returns the text of a replacement plan. */
export type ApprovePlan = (plan: WaitingCall) => Effect.Effect<Given>

/** The resources that a run provides to the workers of its steps. */
export interface Equipment {
  readonly runId: string
  /** Prefix for the ids of pending calls. Distinguishes the calls of nested runs. */
  readonly path: string
  /** Names of the tools that the run was started with. */
  readonly toolNames: ReadonlyArray<string>
  readonly tools: Toolbox.Toolbox | undefined
  readonly toolChoice: ToolChoice | undefined
  readonly parallelToolCalls: boolean | undefined
  readonly shape: Toolbox.AnswerShape | undefined
  /** Named output formats that steps may request. */
  readonly shapes?: ReadonlyMap<string, Toolbox.AnswerShape> | undefined
  readonly maxToolRounds: number
  readonly unsupported: UnsupportedMode
  readonly approve: Approve | undefined
  /** Returns the recorded state of a tool call from before the run was resumed. */
  readonly known: ((id: string) => Recorded.KnownTool | undefined) | undefined
  /** The caller's results for pending calls. */
  readonly given: Readonly<Record<string, Given>>
}

/** The tools and the output format available to a step. */
export interface Offered {
  readonly hasTools: boolean
  /** Names of the tools that the step may call. If undefined, it may call all tools of the run. */
  readonly only?: ReadonlyArray<string> | undefined
  readonly shape: Toolbox.AnswerShape | undefined
  /** Whether the worker answers again in the same conversation after a failed check. */
  readonly isRepeated: boolean
}

/** Raised when the question cannot be sent as given, or when no worker in the pool has a required capability. */
export class Unsupported extends Data.TaggedError("Unsupported")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** Loads the tool and schema code on first use. */
export const withToolbox = onDemand(() => import("./Toolbox.ts"))

const defaultToolRounds = 16

/** Returns the run's equipment before its tools are prepared. */
export const equipmentOf = (
  runId: string,
  path: string,
  toolNames: ReadonlyArray<string>,
  { maxToolRounds = defaultToolRounds, unsupported = "error" }: Options,
  { approve, parallelToolCalls, resume, toolChoice }: RunOptions,
  recorded: Recorded.Recorded | undefined
): Equipment => ({
  runId,
  path,
  toolNames,
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

/** Returns the names of the run's tools. */
export const toolNamesOf = (
  { toolAccess, tools: own = [] }: Pick<Options, "toolAccess" | "tools">,
  { tools = own }: Pick<RunOptions, "tools">
): ReadonlyArray<string> => (toolAccess === "none" ? [] : tools.map(({ name }) => name))

/**
 * Prepares the tools and output formats, and verifies that the pool has the required capabilities, before anything is
 * paid for. A run that started with tools gets a toolbox even if all of its tools were removed later, because workers
 * may already have called them.
 */
export const ready = (
  equipment: Equipment,
  options: Options,
  { output, tools: given = options.tools ?? [] }: RunOptions,
  task: Task,
  pool: WorkerPool
): Effect.Effect<Equipment, ShapeError | Unsupported> => {
  // If no step may call tools, they are not included in requests.
  const tools = options.toolAccess === "none" ? [] : given
  const hasTools = tools.length > 0 || equipment.toolNames.length > 0
  const named = Object.entries(options.shapes ?? {})
  const isText = task.messages.every(({ content }) => typeof content === "string")
  if (isText && !hasTools && equipment.toolChoice === undefined && output === undefined && named.length === 0)
    return Effect.succeed(equipment)
  return withToolbox(({ answerShape, toolbox, unsuitable }) =>
    Effect.gen(function* () {
      const detail = unsuitable(equipment, task, pool, given, tools)
      if (detail !== undefined) return yield* new Unsupported({ detail })
      const shape = output && (yield* answerShape(output))
      const shapes = new Map<string, Toolbox.AnswerShape>()
      for (const [name, schema] of named) {
        const one = yield* answerShape({ type: "json-schema", name, schema })
        if (one !== undefined) shapes.set(name, one)
      }
      return { ...equipment, shape, shapes, tools: hasTools ? yield* toolbox(tools) : undefined }
    })
  )
}

/** Returns the output format for a step's intermediate answer. */
const shapeOf = ({ shapes }: Equipment, { gives }: Step): Toolbox.AnswerShape | undefined => {
  if (gives !== undefined && "shape" in gives) return shapes?.get(gives.shape)
  const most = listOf(gives)
  return most === undefined ? undefined : listShape(most)
}

/** Returns the tools and the output format for a step: the step's own, or those of the run. */
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
