/**
 * The process of `PyodideSandbox`: a WebAssembly interpreter that runs one program and is then discarded.
 *
 * The process starts without permission to write files, to read files other than Pyodide's, to start processes, threads
 * or addons, or to generate code from strings. Before the first program, it also removes every API for networking and
 * for other processes. It never returns to its event loop: it waits for a command, runs it, replies, and waits again.
 */
import fs from "node:fs"
import { registerHooks } from "node:module"
import { pathToFileURL } from "node:url"
import type { PyodideAPI } from "pyodide"
import { type Command, encode, type Reply } from "./frames.ts"
import { interpreter, webAssembly } from "./interpreter.ts"
import { trigonometry } from "./trigonometry.ts"

// Saved before the lockdown.
const { readSync, writeFileSync, writeSync } = fs
const exit = (process as unknown as { reallyExit: (code: number) => never }).reallyExit.bind(process)

const [mode = "", folder = "", snapshotFile = ""] = process.argv.slice(2)

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

const commandFile = 3
const replyFile = 4

const readBytes = (length: number): Buffer | undefined => {
  const bytes = Buffer.alloc(length)
  let at = 0
  while (at < length) {
    const count = readSync(commandFile, bytes, at, length - at, null)
    if (count === 0) return undefined
    at += count
  }
  return bytes
}

/** Waits for the next command. Returns `undefined` if the parent process is gone. */
const receive = (): Command | undefined => {
  const head = readBytes(4)
  const body = head && readBytes(head.readUInt32LE())
  return body && JSON.parse(body.toString())
}

const send = (reply: Reply): void => {
  const bytes = encode(reply)
  for (let at = 0; at < bytes.byteLength; ) at += writeSync(replyFile, bytes, at)
}

// -------------------------------------------------------------------------------------------------------------------
// Memory and files
// -------------------------------------------------------------------------------------------------------------------

const page = 65_536
const memory = { limitBytes: Number.POSITIVE_INFINITY, isStarved: false }

/** Grants memory up to the limit. The interpreter turns a refused allocation into a `MemoryError`. */
const limitMemory = () => {
  const grow = WebAssembly.Memory.prototype.grow
  WebAssembly.Memory.prototype.grow = function (pages: number) {
    if (this.buffer.byteLength + pages * page <= memory.limitBytes) return grow.call(this, pages)
    memory.isStarved = true
    throw new RangeError("the memory limit was exceeded")
  }
}

interface MemoryFiles {
  expandFileStorage: (node: { contents: { length: number } }, capacity: number) => void
}

/** Limits file storage. Files are in memory outside the interpreter's, so they have a separate limit. */
const limitFiles = (pyodide: PyodideAPI, limitBytes: number) => {
  const { ErrnoError, filesystems } = pyodide.FS as unknown as {
    ErrnoError: new (code: number) => Error
    filesystems: { MEMFS: MemoryFiles }
  }
  const { MEMFS } = filesystems
  const expand = MEMFS.expandFileStorage.bind(MEMFS)
  let taken = 0
  MEMFS.expandFileStorage = (node, capacity) => {
    const before = node.contents.length
    const noSpace = 51
    if (taken + Math.max(0, capacity - before) > limitBytes) throw new ErrnoError(noSpace)
    expand(node, capacity)
    taken += Math.max(0, node.contents.length - before)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Lock-down
// -------------------------------------------------------------------------------------------------------------------

/** Properties that the interpreter uses, and the title, which the system shows for the process. */
const keptOfProcess = new Set([
  "argv",
  "env",
  "exitCode",
  "getuid",
  "nextTick",
  "platform",
  "umask",
  "version",
  "versions",
  "title"
])

/**
 * Removes everything that is not required for computation. If a program reaches JavaScript, there is nothing to use.
 */
const lockDown = () => {
  registerHooks({
    resolve: () => {
      throw new Error("modules are closed")
    }
  })
  const nothing = { value: undefined, configurable: false, writable: false }
  const gone =
    /^(?:fetch|WebSocket|EventSource|Worker|BroadcastChannel|Message(?:Channel|Port)|navigator|Request|Response|Headers|localStorage|sessionStorage|Storage|set(?:Timeout|Interval|Immediate)|queueMicrotask|require)$/
  for (const name of Object.getOwnPropertyNames(globalThis).filter((name) => gone.test(name))) {
    Reflect.defineProperty(globalThis, name, nothing)
  }
  const kept = Object.fromEntries([...keptOfProcess].map((name) => [name, Reflect.get(process, name)]))
  // Properties that cannot be redefined are harmless data.
  for (const name of Reflect.ownKeys(process))
    if (!keptOfProcess.has(String(name))) Reflect.defineProperty(process, name, nothing)
  Object.setPrototypeOf(process, null)
  // Node's console requires its streams.
  const mute = () => {}
  const console = { log: mute, warn: mute, error: mute, info: mute, debug: mute }
  Object.defineProperty(globalThis, "console", { value: console, configurable: false, writable: false })
  Object.defineProperty(globalThis, "process", { value: kept, configurable: false, writable: false })
}

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

/** Collects printed output. The process ends if the limit is exceeded. */
const collector = (command: Command) => {
  const pieces: { readonly out: Array<Uint8Array>; readonly err: Array<Uint8Array> } = { out: [], err: [] }
  let total = 0
  const into = (list: Array<Uint8Array>) => (bytes: Uint8Array) => {
    total += bytes.length
    if (total > command.outputBytes) {
      send({ type: "output-too-large" })
      exit(0)
    }
    list.push(bytes.slice())
    return bytes.length
  }
  return {
    write: { out: into(pieces.out), err: into(pieces.err) },
    stdout: () => Buffer.concat(pieces.out).toString(),
    stderr: () => Buffer.concat(pieces.err).toString().slice(-16_000)
  }
}

type RunProgram = (code: string, prelude: string, input: string, order: string) => number

const exitStatus = (error: unknown): number | undefined => {
  if (typeof error !== "object" || error === null || !("status" in error)) return undefined
  return typeof error.status === "number" ? error.status : undefined
}

const attempt = (pyodide: PyodideAPI, runProgram: RunProgram, command: Command): Reply => {
  const { stderr, stdout, write } = collector(command)
  pyodide.setStdout({ write: write.out })
  pyodide.setStderr({ write: write.err })
  memory.limitBytes = command.memoryMegabytes * 1024 * 1024
  const finished = (exitCode: number, isReusable: boolean): Reply => ({
    type: "finished",
    stdout: stdout(),
    stderr: stderr(),
    exitCode,
    isReusable,
    isStarved: memory.isStarved
  })
  try {
    const inputFile = "/input"
    pyodide.FS.writeFile(inputFile, command.input)
    pyodide.FS.chdir("/home/pyodide")
    for (const [name, text] of Object.entries(command.files)) pyodide.FS.writeFile(`/home/pyodide/${name}`, text)
    return finished(runProgram(command.code, command.prelude, inputFile, command.order), true)
  } catch (error) {
    const status = exitStatus(error)
    if (status !== undefined) return finished(status, false)
    return {
      type: "crashed",
      detail: String(error instanceof Error ? error.message : error).slice(0, 500),
      isStarved: memory.isStarved
    }
  }
}

/**
 * Provides constants that Emscripten requests from Node through an API that is not permitted here. The values are
 * public.
 */
const provideConstants = () => {
  Object.defineProperty(process, "binding", { value: () => ({ fs: fs.constants }), configurable: true })
}

const load = async (options: object): Promise<PyodideAPI> => {
  provideConstants()
  const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href)
  return loadPyodide({ indexURL: `${folder}/`, jsglobals: Object.create(null), ...options })
}

const silent = { stdin: () => null, stdout: () => {}, stderr: () => {} }

/** Modules that programs often import. They are loaded into the snapshot, so that programs do not wait for them. */
const warm =
  "import string, re, datetime, collections, heapq, bisect, copy, math, random, statistics, itertools, functools, operator, io, json, typing, traceback, decimal, fractions, threading, linecache, atexit, unittest, unittest.mock, ast"

const makeSnapshot = async () => {
  const pyodide = await load({ _makeSnapshot: true })
  pyodide.runPython(`${warm}\n${trigonometry}`)
  writeFileSync(snapshotFile, (pyodide as unknown as { makeMemorySnapshot: () => Uint8Array }).makeMemorySnapshot())
  exit(0)
}

const serve = async () => {
  limitMemory()
  const pyodide = await load({ _loadSnapshot: fs.readFileSync(snapshotFile), ...silent })
  const close = pyodide.runPython(`${webAssembly}close`) as () => void
  const make = pyodide.runPython(`${interpreter}make`) as () => RunProgram
  close()
  const runProgram = make()
  limitFiles(pyodide, 256 * 1024 * 1024)
  lockDown()
  send({ type: "ready" })
  for (let command = receive(); command !== undefined; command = receive()) {
    send(attempt(pyodide, runProgram, command))
  }
  exit(0)
}

try {
  await (mode === "snapshot" ? makeSnapshot() : serve())
} catch (error) {
  // Node's error report requires features that the lockdown removed.
  writeSync(2, error instanceof Error ? (error.stack ?? error.message) : String(error))
  exit(1)
}
