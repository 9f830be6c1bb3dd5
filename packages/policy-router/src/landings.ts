/**
 * Assigns questions to kinds: each question lands in the kind with the nearest center. The value of a kind is estimated
 * from the graded questions that land in it, whatever their label, because new questions are assigned in the same way.
 *
 * Two further statistics are computed, and a question is always removed from a center before the two are compared. The
 * first is the similarity of a kind's own questions to its center. The second is where questions land if their own kind
 * is removed, which simulates questions of a kind without graded examples.
 */
import { addScaled, dot, unit } from "./vectors.ts"

/** A question's index and its similarity to the center. */
export interface Landing {
  readonly index: number
  readonly likeness: number
}

/** A kind with the questions that land in it. */
export interface Cell {
  readonly kind: string
  readonly centre: Float32Array
  /** Questions that land in this kind. */
  readonly landed: ReadonlyArray<Landing>
  /** Similarities of this kind's own questions to its center, ascending. */
  readonly own: ReadonlyArray<number>
  /** Questions of other kinds that would land here if their own kind were removed, most similar first. */
  readonly fromOtherKinds: ReadonlyArray<Landing>
}

/** Minimum number of questions per kind. With a single question, the center would be the question itself. */
const leastQuestions = 2

interface Growing {
  readonly kind: string
  readonly sum: Float32Array
  readonly square: number
  readonly landed: Array<Landing>
  readonly own: Array<number>
  readonly fromOtherKinds: Array<Landing>
}

const growing = (kind: string, indices: ReadonlyArray<number>, places: ReadonlyArray<Float32Array>): Growing => {
  const sum = new Float32Array(places[0]!.length)
  for (const index of indices) addScaled(sum, 1, places[index]!)
  return { kind, sum, square: dot(sum, sum), landed: [], own: [], fromOtherKinds: [] }
}

/**
 * Returns the similarity of a unit vector to a center. If the vector is part of the sum (`isIn`), it is removed first.
 */
const likenessOf = (place: Float32Array, { square, sum }: Growing, isIn: boolean): number => {
  const product = dot(place, sum)
  const length = Math.sqrt(Math.max(1e-9, isIn ? square - 2 * product + 1 : square))
  return (isIn ? product - 1 : product) / length
}

/** Groups questions by kind and computes the landings in each. `kinds` has the kind of each question. */
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
  return grown.map(({ kind, landed, own, fromOtherKinds, sum }) => ({
    kind,
    centre: unit(sum),
    landed,
    own: own.toSorted((left, right) => left - right),
    fromOtherKinds: fromOtherKinds.toSorted((left, right) => right.likeness - left.likeness)
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
  elsewhere?.cell.fromOtherKinds.push({ index, likeness: elsewhere.likeness })
}
