/**
 * Runs example files one after another in this process. Prints one JSON line for each, with its failures and the lines
 * of the claims that were reached. An example continues after a failed claim.
 */
import assert from "node:assert/strict"
import { pathToFileURL } from "node:url"
import { inspect } from "node:util"

const limitMillis = 30_000

declare global {
  var __claim: (actual: unknown, expected: unknown, line: number) => void
}

/** Converts a value to plain objects and arrays, so that a class instance can equal a literal. */
const plain = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Set || value instanceof Map || value instanceof Date || ArrayBuffer.isView(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, plain(child)]))
}

let problems: Array<{ readonly line?: number | undefined; readonly message: string }> = []
let reached: Array<number> = []

globalThis.__claim = (actual, expected, line) => {
  reached.push(line)
  try {
    assert.deepStrictEqual(plain(actual), plain(expected))
  } catch {
    problems.push({ line, message: `says ${inspect(expected)}, and is ${inspect(actual, { depth: 6 })}` })
  }
}

// Examples may print as well, so results use the original function.
const print = process.stdout.write.bind(process.stdout)
process.stdout.write = () => true

for (const file of process.argv.slice(2)) {
  problems = []
  reached = []
  const timer = setTimeout(() => {
    problems.push({ message: `did not end within ${limitMillis} ms` })
    print(`${JSON.stringify({ file, problems, reached })}\n`)
    process.exit(1)
  }, limitMillis)
  try {
    await import(pathToFileURL(file).href)
  } catch (error) {
    problems.push({ message: error instanceof Error ? (error.stack ?? error.message) : inspect(error) })
  }
  clearTimeout(timer)
  print(`${JSON.stringify({ file, problems, reached })}\n`)
}
process.exit(0)
