/**
 * Mistakes that were made once and mended. Planted again, each must be found: so much the simulation can see.
 *
 * A mutant changes the text of a source file as it is loaded; nothing on the disk changes.
 */
import { registerHooks } from "node:module"

/** A mistake as it once was: each `from` stands in the file, once, and is replaced. */
interface Mutant {
  /** The end of the file's address. */
  readonly file: string
  /** Twice as many seeds as it took, and a thousand. */
  readonly within: number
  readonly edits: ReadonlyArray<{ readonly from: string; readonly to: string }>
}

/** The mistakes by name. */
export const mutants: Readonly<Record<string, Mutant>> = {
  // A caller that is granted room in the turn in which it settles stays in the queue, and is granted it twice.
  "granted-twice": {
    file: "core/src/run/Budget.ts",
    within: 5000,
    edits: [{ from: "if (isServed) return true", to: "" }]
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

const mutate = ({ edits, file }: Mutant, source: string): string =>
  edits.reduce((text, { from, to }) => {
    if (text.split(from).length !== 2) throw new Error(`${file} has changed: "${from}" does not stand in it once.`)
    return text.replace(from, () => to)
  }, source)
