/**
 * Measures how the run time of a parser grows with the length of its input. The length is doubled repeatedly. Absolute
 * times are ignored, because they depend on the machine.
 */

/** The result of a reader on a shape. */
export interface Growth {
  /** The largest ratio of times between a text and one four times as long; 4 is linear, 16 quadratic. */
  readonly worst: number
  /** The size at which it was found to be too much; then no longer text was tried. */
  readonly failedAt?: number | undefined
  /** An error of the reader that it should not throw. */
  readonly thrown?: string | undefined
  /** Of the longest text, for the slowest first. */
  readonly lastMillis: number
}

/** Four times the text may take this many times longer: n^1.5. */
const limit = 8

/** Shorter times are not reliable, because start-up and garbage collection have a large share of them. */
const floorMillis = 12

/** The shortest text of a reader without a bound. */
export const shortest = 1024

const millisOf = async (read: (text: string) => unknown, text: string): Promise<number> => {
  const before = process.cpuUsage()
  await read(text)
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1000
}

const bestOf = async (times: number, read: (text: string) => unknown, text: string): Promise<number> => {
  let best = Number.POSITIVE_INFINITY
  for (let time = 0; time < times; time++) best = Math.min(best, await millisOf(read, text))
  return best
}

const ratioOf = async (
  read: (text: string) => unknown,
  shape: (length: number) => string,
  size: number
): Promise<number> => (await bestOf(5, read, shape(size))) / (await bestOf(5, read, shape(size / 4)))

const parsed = (text: string): void => {
  try {
    JSON.parse(text)
  } catch {
    // It is no JSON.
  }
}

/**
 * V8's own `JSON.parse` takes up to ten times as long for four times the brackets, because the garbage collector has to
 * visit all objects that it makes. A reader may take half as much again.
 */
const limitOf = async (shape: (length: number) => string, size: number): Promise<number> =>
  (await bestOf(5, parsed, shape(size / 4))) < floorMillis
    ? limit
    : Math.max(limit, 1.5 * (await ratioOf(parsed, shape, size)))

/**
 * Whether the time keeps growing at that rate. When texts outgrow a cache or the young generation of the heap, the time
 * rises once and is linear after that. Time that grows faster than the text also does so at four times the length.
 */
const goesOn = async (
  read: (text: string) => unknown,
  shape: (length: number) => string,
  size: number
): Promise<boolean> => {
  const short = await bestOf(2, read, shape(size))
  return (await bestOf(2, read, shape(4 * size))) / short > limit
}

/** Measures a reader with one shape, on texts of `shortest` to `longest` characters. */
export const measure = async (
  read: (text: string) => unknown,
  shape: (length: number) => string,
  { longest, shortest }: { readonly longest: number; readonly shortest: number }
): Promise<Growth> => {
  let worst = 0
  let lastMillis = 0
  const millis: Array<number> = []
  for (let size = shortest, step = 0; size <= longest; size *= 2, step++) {
    try {
      millis[step] = await millisOf(read, shape(size))
    } catch (error) {
      return {
        worst,
        lastMillis,
        failedAt: size,
        thrown: error instanceof Error ? (error.stack ?? error.message) : String(error)
      }
    }
    lastMillis = millis[step]!
    const before = millis[step - 2]
    if (before === undefined || before < floorMillis) continue
    let ratio = lastMillis / before
    // The machine has other work, and memory is collected when it is: only what stays so counts.
    if (ratio > limit) ratio = await ratioOf(read, shape, size)
    worst = Math.max(worst, ratio)
    if (ratio > limit && ratio > (await limitOf(shape, size)) && (await goesOn(read, shape, size)))
      return { worst, failedAt: size, lastMillis }
  }
  return { worst, lastMillis }
}
