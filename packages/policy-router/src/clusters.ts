/** Assigns kinds to unlabeled questions by clustering their embeddings. */
import { addScaled, argmax, dot, unit } from "./vectors.ts"

/** Target average number of questions per cluster. */
const perCluster = 60
const mostClusters = 30
const rounds = 12

/** Prefix of cluster names. */
const prefix = "cluster"

/** Assigns each point to a cluster with spherical k-means, starting from centers that are far apart. Deterministic. */
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

/** Returns the kind of each question. Questions without a kind are assigned to clusters. */
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
