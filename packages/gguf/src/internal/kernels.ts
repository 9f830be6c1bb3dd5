/**
 * Allocation-free kernels for the forward pass on typed arrays.
 *
 * Loops compute several sums at once, because a single sum would stall at each addition. The order of summation within
 * each sum is fixed, whichever sums are computed alongside it.
 */

/** A linear layer. `weight` has the shape `[rows, columns]`. */
export interface Linear {
  readonly weight: Float32Array
  readonly rows: number
  readonly columns: number
  readonly bias: Float32Array | undefined
}

/** Multiplies four vectors by two rows at a time, so that each value is read once for several sums. */
const fourInputs = (layer: Linear, input: Float32Array, from: number, output: Float32Array, to: number) => {
  const { bias, columns, rows, weight } = layer
  for (let row = 0; row < rows; row += 2) {
    // With an odd number of rows, the last row is paired with itself.
    const next = row + 1 < rows ? row + 1 : row
    const start = row * columns
    const nextStart = next * columns
    let a = bias === undefined ? 0 : bias[row]!
    let b = a
    let c = a
    let d = a
    let e = bias === undefined ? 0 : bias[next]!
    let f = e
    let g = e
    let h = e
    let at = from
    for (let column = 0; column < columns; column++, at++) {
      const factor = weight[start + column]!
      const other = weight[nextStart + column]!
      const first = input[at]!
      const second = input[at + columns]!
      const third = input[at + 2 * columns]!
      const fourth = input[at + 3 * columns]!
      a += factor * first
      b += factor * second
      c += factor * third
      d += factor * fourth
      e += other * first
      f += other * second
      g += other * third
      h += other * fourth
    }
    output[to + row] = a
    output[to + rows + row] = b
    output[to + 2 * rows + row] = c
    output[to + 3 * rows + row] = d
    output[to + next] = e
    output[to + rows + next] = f
    output[to + 2 * rows + next] = g
    output[to + 3 * rows + next] = h
  }
}

/** Multiplies one vector by four rows at a time. */
const oneInput = (layer: Linear, input: Float32Array, from: number, output: Float32Array, to: number) => {
  const { bias, columns, rows, weight } = layer
  let row = 0
  for (; row + 4 <= rows; row += 4) {
    let first = bias === undefined ? 0 : bias[row]!
    let second = bias === undefined ? 0 : bias[row + 1]!
    let third = bias === undefined ? 0 : bias[row + 2]!
    let fourth = bias === undefined ? 0 : bias[row + 3]!
    let at = row * columns
    for (let column = 0; column < columns; column++, at++) {
      const factor = input[from + column]!
      first += factor * weight[at]!
      second += factor * weight[at + columns]!
      third += factor * weight[at + 2 * columns]!
      fourth += factor * weight[at + 3 * columns]!
    }
    output[to + row] = first
    output[to + row + 1] = second
    output[to + row + 2] = third
    output[to + row + 3] = fourth
  }
  for (; row < rows; row++) {
    let sum = bias === undefined ? 0 : bias[row]!
    for (let column = 0; column < columns; column++) sum += input[from + column]! * weight[row * columns + column]!
    output[to + row] = sum
  }
}

/** Applies a layer to the first `count` vectors of `input`. Writes the result to `output`, starting at `offset`. */
export const linear = (
  layer: Linear,
  input: Float32Array,
  output: Float32Array,
  offset: number,
  count: number
): void => {
  const { columns, rows } = layer
  let vector = 0
  for (; vector + 4 <= count; vector += 4) fourInputs(layer, input, vector * columns, output, offset + vector * rows)
  for (; vector < count; vector++) oneInput(layer, input, vector * columns, output, offset + vector * rows)
}

/** Applies RMS norm to the first `count` vectors of `input`. */
export const norm = (
  input: Float32Array,
  weight: Float32Array,
  epsilon: number,
  output: Float32Array,
  count: number
): void => {
  const width = weight.length
  for (let start = 0; start < count * width; start += width) {
    let squares = 0
    for (let index = start; index < start + width; index++) squares += input[index]! * input[index]!
    const scale = 1 / Math.sqrt(squares / width + epsilon)
    for (let index = 0; index < width; index++) output[start + index] = input[start + index]! * scale * weight[index]!
  }
}

/** Applies the rotary embedding to all heads of a vector, pairing the first half of each head with the second. */
export const rotate = (
  vectors: Float32Array,
  start: number,
  width: number,
  headSize: number,
  position: number,
  { cosines, sines }: { readonly cosines: Float32Array; readonly sines: Float32Array }
): void => {
  const half = headSize / 2
  for (let head = start; head < start + width; head += headSize) {
    for (let index = 0; index < half; index++) {
      const cosine = cosines[position * half + index]!
      const sine = sines[position * half + index]!
      const first = vectors[head + index]!
      const second = vectors[head + index + half]!
      vectors[head + index] = first * cosine - second * sine
      vectors[head + index + half] = second * cosine + first * sine
    }
  }
}

/** Buffers for attention. `scores` needs one element per position. */
export interface Attention {
  readonly queries: Float32Array
  readonly keys: Float32Array
  readonly values: Float32Array
  readonly scores: Float64Array
  readonly seen: Float32Array
}

/** Computes the attention scores of a query against all keys, and returns the highest. */
const score = (
  { keys, queries, scores }: Attention,
  own: number,
  shared: number,
  size: number,
  width: number,
  positions: number
): number => {
  const scale = 1 / Math.sqrt(size)
  let largest = -Infinity
  for (let position = 0; position < positions; position += 4) {
    const at = position * width + shared
    // Keys after the last position may be stale or missing. Their scores are never read.
    const second = position + 1 < positions ? at + width : at
    const third = position + 2 < positions ? at + 2 * width : at
    const fourth = position + 3 < positions ? at + 3 * width : at
    let a = 0
    let b = 0
    let c = 0
    let d = 0
    for (let index = 0; index < size; index++) {
      const factor = queries[own + index]!
      a += factor * keys[at + index]!
      b += factor * keys[second + index]!
      c += factor * keys[third + index]!
      d += factor * keys[fourth + index]!
    }
    scores[position] = a * scale
    if (position + 1 < positions) scores[position + 1] = b * scale
    if (position + 2 < positions) scores[position + 2] = c * scale
    if (position + 3 < positions) scores[position + 3] = d * scale
    const most = Math.max(a, b, c, d) * scale
    if (most > largest) largest = most
  }
  return largest
}

/**
 * Computes one attention head at one position: the query at `own` against the keys of the first `positions`. Keys are
 * `width` elements apart, with this head's key at offset `shared`. The weighted sum of the values overwrites the query.
 */
export const attend = (
  attention: Attention,
  own: number,
  shared: number,
  size: number,
  width: number,
  positions: number
): void => {
  const { scores, seen, values } = attention
  const largest = score(attention, own, shared, size, width, positions)
  let sum = 0
  for (let position = 0; position < positions; position++) {
    const exponential = Math.exp(scores[position]! - largest)
    scores[position] = exponential
    sum += exponential
  }
  // Head sizes are even.
  for (let index = 0; index < size; index += 2) {
    let first = 0
    let second = 0
    let at = shared + index
    for (let position = 0; position < positions; position++, at += width) {
      const share = scores[position]!
      first += share * values[at]!
      second += share * values[at + 1]!
    }
    seen[own + index] = first / sum
    seen[own + index + 1] = second / sum
  }
}

/** Applies the gated activation (SwiGLU): `gate × sigmoid(gate) × up`, element by element. */
export const silu = (gates: Float32Array, ups: Float32Array, length: number): void => {
  for (let index = 0; index < length; index++) {
    const gate = gates[index]!
    gates[index] = (gate / (1 + Math.exp(-gate))) * ups[index]!
  }
}
