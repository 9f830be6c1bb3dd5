/**
 * A server in which any function can be made to fail, whose name a line of its input has: `chat/ChatReader.read`. Prints
 * its address as its first line, then what it logs. An empty line ends the fault.
 */
import fs from "node:fs"
import { registerHooks } from "node:module"
import readline from "node:readline"
import { fileURLToPath } from "node:url"

/** The functions that may fail, by the module's path in `src`. */
const functions: Readonly<Record<string, ReadonlyArray<string>>> = JSON.parse(process.argv[2]!)

const source = new URL("../../src/", import.meta.url).href

Object.assign(globalThis, {
  failIfPlanted: (name: string) => {
    if (process.env.PLANTED === name) throw new Error("planted")
  }
})

const withFaults = (text: string, module: string, names: ReadonlyArray<string>): string =>
  names.reduce((changed, name) => {
    const opening = new RegExp(`^export (const|function\\*) ${name}\\b`, "m")
    if (!opening.test(changed)) throw new Error(`${module} has no function "${name}" any more.`)
    return `${changed.replace(opening, `$1 planted_${name}`)}
export const ${name} = (...args) => (globalThis.failIfPlanted("${module}.${name}"), planted_${name}(...args))`
  }, text)

registerHooks({
  load: (url, context, next) => {
    const module = url.startsWith(source) ? url.slice(source.length).replace(/\.ts$/, "") : ""
    const names = functions[module]
    if (names === undefined) return next(url, context)
    const text = fs.readFileSync(fileURLToPath(url), "utf8")
    return { format: "module-typescript", source: withFaults(text, module, names), shortCircuit: true }
  }
})

const [Effect, Logger, NodeServer, teams] = await Promise.all([
  import("effect/Effect"),
  import("effect/Logger"),
  import("../../src/NodeServer.ts"),
  import("../teams.ts")
])

const one = teams.alone({ ...teams.worker("a", ...Array.from({ length: 1_000 }, () => teams.said("He", "llo"))) })
const logger = Logger.layer([Logger.make(({ message }) => process.stdout.write(`${[message].flat().join(" ")}\u0000`))])

readline.createInterface(process.stdin).on("line", (name) => {
  process.env.PLANTED = name
  process.stdout.write("set\u0000")
})
process.stdin.on("end", () => process.exit())

await Effect.runPromise(
  Effect.scoped(
    Effect.gen(function* () {
      const { url } = yield* NodeServer.make({ port: 0, ...one })
      process.stdout.write(`${url}\u0000`)
      yield* Effect.never
    })
  ).pipe(Effect.provide(logger))
)
