/**
 * Mistakes that were made once and mended. Planted again, each must be found: so much the simulation can see.
 *
 * A mutant changes the text of a source file as it is loaded; nothing on the disk changes.
 */
import { registerHooks } from "node:module"

/** A mistake as it once was: each `from` stands in the file, once, and is replaced. */
export interface Mutant {
  /** The file, in `packages`. */
  readonly file: string
  readonly edits: ReadonlyArray<{ readonly from: string; readonly to: string }>
}

/** The mistakes by name. */
export const mutants: Readonly<Record<string, Mutant>> = {
  // Who is served in the turn in which it settles is served twice, and keeps the second grant.
  "granted-twice": {
    file: "core/src/run/Budget.ts",
    edits: [{ from: "if (this.isServing) return", to: "" }]
  },
  // What is granted in the instant of an interruption stays reserved.
  "grant-kept": {
    file: "core/src/run/WorkerCall.ts",
    edits: [
      {
        from: "return Effect.flatMap(ledger.reserve(boundOn(ledger, call), place && nameOf(place)), (own) => {",
        to: "return Effect.flatMap(restore(ledger.reserve(boundOn(ledger, call), place && nameOf(place))), (own) => {"
      }
    ]
  },
  // An answer that comes as another step ends the run is paid and not told.
  "answer-untold": {
    file: "core/src/run/Executor.ts",
    edits: [
      {
        from: "return Effect.matchEffect(ask(context, plan, answers, running, onAnswer), {",
        to: `let kept: Answered | undefined
      const asked = ask(context, plan, answers, running, (answer) => { kept = answer })
      return Effect.matchEffect(Effect.map(asked, () => onAnswer(kept!)), {`
      }
    ]
  },
  // What a vendor says it used is taken as it comes.
  "usage-unchecked": {
    file: "core/src/run/receive.ts",
    edits: [
      {
        from: "Usage.checked(part.usage, () => estimateOf(call, received.text + received.reasoning))",
        to: "part.usage"
      }
    ]
  },
  // An answer that does not end is read as long as it goes on.
  "read-without-end": {
    file: "core/src/run/receive.ts",
    edits: [{ from: "size > leastCharacters && size > bound(call) ?", to: "size < 0 ?" }]
  },
  // An error that throws when it is shown ends nothing.
  "hostile-words": {
    file: "core/src/Thrown.ts",
    edits: [
      {
        from: 'return plain(String(said(thrown)))\n  } catch {\n    return "something that cannot be shown"\n  }',
        to: "return plain(String(said(thrown)))\n  } finally {\n  }"
      }
    ]
  },
  // A length of time is a difference of the wall clock.
  "wall-clock": {
    file: "core/src/run/elapsed.ts",
    edits: [{ from: "Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000", to: "clock.currentTimeMillisUnsafe()" }]
  },
  // A lookup that begins to wait as the answer comes is never told.
  "joins-late": {
    file: "core/src/run/ResponseCache.ts",
    edits: [
      { from: "        flight.add(waiter)\n", to: "" },
      { from: "restore(join(waiter))", to: "restore(Effect.suspend(() => (flight.add(waiter), join(waiter))))" }
    ]
  },
  // A call that is interrupted as the gate lets it pass keeps its place.
  "place-kept": {
    file: "provider-kit/src/internal/line.ts",
    edits: [{ from: "Effect.flatMap(enter,", to: "Effect.flatMap(restore(enter)," }]
  },
  // A worker sees every step before its own.
  "sees-all": {
    file: "core/src/workflow/StepMessages.ts",
    edits: [{ from: "of Workflow.visible(workflow, step)", to: "of answers.slice(0, step).keys()" }]
  }
}

/** Plants a mutant into what this thread loads from now on. */
export const plant = (name: string): void => {
  const mutant = mutants[name]
  if (mutant === undefined) throw new Error(`No mutant is called "${name}": ${Object.keys(mutants).join(", ")}.`)
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context)
      if (!url.endsWith(mutant.file)) return loaded
      return { ...loaded, source: mutate(mutant, String(loaded.source)) }
    }
  })
}

/** The source of a file with a mutant in it; throws where the file has changed and the mutant has not. */
export const mutate = ({ edits, file }: Mutant, source: string): string =>
  edits.reduce((text, { from, to }) => {
    if (text.split(from).length !== 2) throw new Error(`${file} has changed: "${from}" does not stand in it once.`)
    return text.replace(from, () => to)
  }, source)
