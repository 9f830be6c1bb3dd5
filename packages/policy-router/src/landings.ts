/**
 * The landing of questions: at the kind with the nearest centre. The value of a kind is estimated from the graded
 * questions that land there, regardless of their label, because the next question will get there in the same way.
 *
 * Two more things are measured, each with the question left out of the centre that it is compared with. One is the
 * likeness of a kind's questions to their own centre. The other is the landing of questions whose own kind is removed,
 * as for a question of a kind without graded questions.
 */
import { addScaled, dot, unit } from "./vectors.ts"

/** A question, by its index, and how like the centre it is. */
export interface Landing {
  readonly index: number
  readonly likeness: number
}

/** The statistics of a kind. */
export interface Cell {
  readonly kind: string
  readonly centre: Float32Array
  /** The questions that land here. */
  readonly landed: ReadonlyArray<Landing>
  /** How like the centre the questions of this kind are, ascending. */
  readonly own: ReadonlyArray<number>
  /** Questions of other kinds that land here when their own kind is taken away, the most like first. */
  readonly strangers: ReadonlyArray<Landing>
}

/** A kind needs at least this many questions: the centre of one question is that question. */
const leastQuestions = 2

interface Growing {
  readonly kind: string
  readonly sum: Float32Array
  readonly square: number
  readonly landed: Array<Landing>
  readonly own: Array<number>
  readonly strangers: Array<Landing>
}

const growing = (kind: string, indices: ReadonlyArray<number>, places: ReadonlyArray<Float32Array>): Growing => {
  const sum = new Float32Array(places[0]!.length)
  for (const index of indices) addScaled(sum, 1, places[index]!)
  return { kind, sum, square: dot(sum, sum), landed: [], own: [], strangers: [] }
}

/** The likeness of a place of length 1 to the centre of a sum, which it is first taken out of where it is in it. */
const likenessOf = (place: Float32Array, { square, sum }: Growing, isIn: boolean): number => {
  const product = dot(place, sum)
  const length = Math.sqrt(Math.max(1e-9, isIn ? square - 2 * product + 1 : square))
  return (isIn ? product - 1 : product) / length
}

/** The kinds of questions at these places, each with what lands there. `kinds` has the kind of each question. */
export const cells = (
  places: ReadonlyArray<Float32Array>,
  kinds: ReadonlyArray<string | undefined>
): ReadonlyArray<Cell> => {
  const named = kinds.flatMap((kind, index) => (kind === undefined ? [] : [{ kind, index }]))
  const grown = [...Map.groupBy(named, ({ kind }) => kind)]
    .filter(([, group]) => group.length >= leastQuestions)
    .map(([kind, group]) =>
      growing(
        kind,
        group.map(({ index }) => index),
        places
      )
    )
  for (const [index, place] of places.entries()) land(grown, kinds[index], { index, place })
  return grown.map(({ kind, landed, own, strangers, sum }) => ({
    kind,
    centre: unit(sum),
    landed,
    own: own.toSorted((left, right) => left - right),
    strangers: strangers.toSorted((left, right) => right.likeness - left.likeness)
  }))
}

const land = (
  grown: ReadonlyArray<Growing>,
  kind: string | undefined,
  { index, place }: { readonly index: number; readonly place: Float32Array }
): void => {
  let nearest: { readonly cell: Growing; readonly likeness: number } | undefined
  let elsewhere: typeof nearest
  for (const cell of grown) {
    const isOwn = cell.kind === kind
    const likeness = likenessOf(place, cell, isOwn)
    if (isOwn) cell.own.push(likeness)
    if (nearest === undefined || likeness > nearest.likeness) nearest = { cell, likeness }
    if (!isOwn && (elsewhere === undefined || likeness > elsewhere.likeness)) elsewhere = { cell, likeness }
  }
  nearest?.cell.landed.push({ index, likeness: nearest.likeness })
  elsewhere?.cell.strangers.push({ index, likeness: elsewhere.likeness })
}
