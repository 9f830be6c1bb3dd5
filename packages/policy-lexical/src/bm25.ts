/**
 * Okapi BM25, which scores how well short documents match a query.
 *
 * Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the usual k1 and b and
 * a non-negative inverse document frequency.
 */

/** The terms of a query with their weights. */
export type Query = ReadonlyMap<string, number>

const saturation = 1.2
const lengthWeight = 0.75

const frequencies = (terms: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

/**
 * Returns the score of each document, given as its terms. The score is 0 if it has no term in common with the query.
 */
export const scores = (documents: ReadonlyArray<ReadonlyArray<string>>, query: Query): ReadonlyArray<number> => {
  const counted = documents.map(frequencies)
  const meanLength = documents.reduce((sum, terms) => sum + terms.length, 0) / documents.length || 1
  const weights = new Map<string, number>()
  for (const [term, weight] of query) {
    const containing = counted.filter((counts) => counts.has(term)).length
    weights.set(term, weight * Math.log(1 + (documents.length - containing + 0.5) / (containing + 0.5)))
  }
  return counted.map((counts, index) => {
    const length = documents[index]!.length / meanLength
    const damping = saturation * (1 - lengthWeight + lengthWeight * length)
    let score = 0
    for (const [term, weight] of weights) {
      const frequency = counts.get(term) ?? 0
      if (frequency > 0) score += (weight * frequency * (saturation + 1)) / (frequency + damping)
    }
    return score
  })
}
