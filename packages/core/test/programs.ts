/** Random programs: workflows whose steps have fields beyond the paper's lists. Everything follows from the seed. */
import { makeRandom } from "../scripts/workflowTextCorpus.ts"
import type { Step, StepCheck, StepSettings, Workflow } from "../src/workflow/Workflow.ts"

/** The rules that all programs obey. */
export const programRules = {
  poolSize: 3,
  maxSteps: 6,
  checks: ["tests", "a judge's"],
  shapes: ["finding", "a-b_2"],
  tools: ["search", "fetch", "list"]
} as const

type Random = ReturnType<typeof makeRandom>

const subtasks = ["", "Do it.", "Review {item}.", 'A "quoted" \\ one.', "Ünï\n\tcode 😀; list 3"]

const reasoningOf = (random: Random): NonNullable<StepSettings["reasoning"]> =>
  random.pick([
    { type: "off" },
    { type: "budget", tokens: random.below(20_000) },
    { type: "effort", effort: random.pick(["minimal", "low", "medium", "high"] as const) }
  ] as const)

const settingsOf = (random: Random): StepSettings | undefined => {
  const settings: StepSettings = {
    ...(random.chance(0.5) && { reasoning: reasoningOf(random) }),
    ...(random.chance(0.5) && { maxOutputTokens: 1 + random.below(100_000) }),
    ...(random.chance(0.5) && { temperature: random.pick([0, 1, 0.2, 1e-7, 1.234567890123]) }),
    ...(random.chance(0.5) && { timeoutMillis: random.pick([1, 1.5, 1500, 2 ** 31 - 1]) })
  }
  return Object.keys(settings).length === 0 ? undefined : settings
}

const checkOf = (random: Random, mayRevise: boolean): StepCheck => {
  const by = random.pick([...programRules.checks, 0, 2])
  const onFailure = random.pick(["next", "continue", "again", ...(mayRevise ? (["revise"] as const) : [])] as const)
  return { by, onFailure, ...(onFailure === "again" && random.chance(0.5) && { times: 1 + random.below(9) }) }
}

const toolsOf = (random: Random): NonNullable<Step["tools"]> =>
  random.pick([true, false, ["search"], ["list", "fetch"]] as const)

/** A program that obeys the rules: lists are nested at most two deep and have few items. */
export const programOf = (seed: number): Workflow => {
  const random = makeRandom(seed)
  const count = 1 + random.below(programRules.maxSteps)
  const steps: Array<Step> = []
  const axes: Array<ReadonlyArray<number>> = []
  for (let step = 0; step < count; step++) {
    const isLast = step === count - 1
    const sources = steps.flatMap(({ gives }, at) => {
      const own = gives !== undefined && "list" in gives ? [...axes[at]!, at] : axes[at]!
      return own.length > 0 && own.length <= 2 ? [{ at, own }] : []
    })
    const source = sources.length > 0 && random.chance(0.5) ? random.pick(sources) : undefined
    const own = source?.own ?? []
    axes.push(own)
    const failed = steps.flatMap(({ check }, at) =>
      check !== undefined && axes[at]!.every((axis, depth) => own[depth] === axis) ? [at] : []
    )
    const when = failed.length > 0 && random.chance(0.5) ? { failed: random.pick(failed) } : undefined
    const access = random.chance(0.3) ? "all" : steps.flatMap((_, at) => (random.chance(0.5) ? [at] : []))
    const seen = access === "all" ? step : access.length
    const gives = random.chance(0.3)
      ? { shape: random.pick(programRules.shapes) }
      : !isLast && random.chance(0.4)
        ? { list: 1 + random.below(9) }
        : undefined
    const settings = random.chance(0.4) ? settingsOf(random) : undefined
    steps.push({
      worker: random.below(programRules.poolSize),
      subtask: random.pick(subtasks),
      access,
      ...(random.chance(0.4) && { check: checkOf(random, source === undefined) }),
      ...(gives && { gives }),
      ...(source && { each: source.at }),
      ...(when && { when }),
      ...(when === undefined &&
        seen > 0 &&
        random.chance(0.3) && {
          enough: { answers: 1 + random.below(seen), ...(random.chance(0.5) && { graceMillis: random.below(5000) }) }
        }),
      ...(settings && { settings }),
      ...(random.chance(0.3) && { tools: toolsOf(random) })
    })
  }
  return { steps }
}
