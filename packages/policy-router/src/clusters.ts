/** Kinds for unlabelled questions: clusters of their positions. */
import { addScaled, argmax, dot, unit } from "./vectors.ts"

/** How many questions a cluster has on average. */
const perCluster = 60
const mostClusters = 30
const rounds = 12

/** The first words of what clusters are called. */
const prefix = "cluster"

/** Spherical k-means from centres far apart: the cluster of each place. The same places give the same clusters. */
const clustersOf = (places: ReadonlyArray<Float32Array>, count: number): ReadonlyArray<number> => {
  let centres = [places[0]!]
  const likeness = places.map((place) => dot(place, centres[0]!))
  while (centres.length < count) {
    const farthest = places[argmax(likeness.map((value) => -value))]!
    centres.push(farthest)
    for (const [index, place] of places.entries()) likeness[index] = Math.max(likeness[index]!, dot(place, farthest))
  }
  let assigned: ReadonlyArray<number> = []
  for (let round = 0; round < rounds; round++) {
    assigned = places.map((place) => argmax(centres.map((centre) => dot(place, centre))))
    const sums = centres.map((centre) => new Float32Array(centre.length))
    for (const [index, place] of places.entries()) addScaled(sums[assigned[index]!]!, 1, place)
    centres = sums.map((sum, cluster) => (assigned.includes(cluster) ? unit(sum) : centres[cluster]!))
  }
  return assigned
}

/** Returns the kinds of questions, with clusters for those that have no kind. */
export const clustered = (
  places: ReadonlyArray<Float32Array>,
  kinds: ReadonlyArray<string | undefined>
): ReadonlyArray<string> => {
  const open = kinds.flatMap((kind, index) => (kind === undefined ? [index] : []))
  if (open.length === 0) return kinds as ReadonlyArray<string>
  const count = Math.min(mostClusters, Math.max(1, Math.round(open.length / perCluster)))
  const found = clustersOf(
    open.map((index) => places[index]!),
    count
  )
  const named = kinds.slice()
  for (const [at, index] of open.entries()) named[index] = `${prefix}-${found[at]! + 1}`
  return named as ReadonlyArray<string>
}
