/**
 * Extracts the program from a question and runs it in a sandbox: QuickJS compiled to WebAssembly, without access to the
 * host.
 */
import type { QuickJSWASMModule } from "quickjs-emscripten-core"
import type { Habits } from "../Habits.ts"
import { solver, type Text } from "./reading.ts"

interface Read {
  readonly source: string
  readonly n: string | undefined
}

const read = (text: Text): Read | undefined => {
  const source = text.take(/```(?:\w+)?\n([\s\S]*?)```/)?.[1]
  if (source === undefined || text.takeAll(/\b(?:prints?|outputs?)\b/gi).length === 0) return undefined
  return { source, n: text.take(/\bwhen n is (-?[\d,]*\d)(?![\d.])/i)?.[1]?.replace(/,/g, "") }
}

let loading: Promise<QuickJSWASMModule> | undefined

const load = (): Promise<QuickJSWASMModule> => {
  loading ??= import("quickjs-emscripten-core").then((core) =>
    core.newQuickJSWASMModuleFromVariant(import("@jitl/quickjs-wasmfile-release-sync"))
  )
  return loading
}

/** Maximum number of interrupt checks per program, which corresponds to about one second. */
const patience = 2_000
const memoryBytes = 16 * 1024 * 1024

const run = (quickjs: QuickJSWASMModule, source: string): string | undefined => {
  const runtime = quickjs.newRuntime()
  let asked = 0
  runtime.setMemoryLimit(memoryBytes)
  runtime.setInterruptHandler(() => ++asked > patience)
  const context = runtime.newContext()
  try {
    const setup =
      "const printed = []; const console = { log: (...items) => { printed.push(items.map(String).join(' ')) } };"
    const result = context.evalCode(`${setup}\n${source}\n;printed.join("\\n")`)
    if (result.error !== undefined) {
      result.error.dispose()
      return undefined
    }
    const printed = context.getString(result.value)
    result.value.dispose()
    return printed === "" ? undefined : printed
  } finally {
    context.dispose()
    runtime.dispose()
  }
}

const asRead = (source: string, habits: Habits): string | undefined => {
  if (habits.linesRead !== undefined && source.trim().split("\n").length > habits.linesRead) return undefined
  return habits.stopsLoopsEarly ? source.replace(/<=/g, "<") : source
}

export const program = solver<Read>({
  isVerbatim: true,
  words: "what does do this following javascript js program code snippet it of when run executed print prints",
  read,
  kind: () => "number",
  solve: async ({ n, source }, { habits }) => {
    const understood = asRead(source, habits)
    if (understood === undefined) return undefined
    return run(await load(), n === undefined ? understood : `const n = ${n}\n${understood}`)
  }
})
