/** The Pareto front: what nothing else beats in both quality and cost. */

/** Something with a cost and a quality. */
export interface Valued {
  readonly cost: number
  readonly quality: number
}

const beats = (one: Valued, other: Valued): boolean =>
  one.cost <= other.cost && one.quality >= other.quality && (one.cost < other.cost || one.quality > other.quality)

/** Those that no other is both as cheap as and as good as, and better in one of the two; cheapest first. */
export const front = <A extends Valued>(items: ReadonlyArray<A>): ReadonlyArray<A> =>
  items
    .filter((item) => !items.some((other) => beats(other, item)))
    .sort((left, right) => left.cost - right.cost || left.quality - right.quality)
