/**
 * Runs a server as a child process that exchanges messages as lines on its standard input and output. The process leads
 * a process group, because most servers are started through a wrapper (npx, uvx, `sh -c`); the whole group is stopped
 * with the connection.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { StringDecoder } from "node:string_decoder"
import * as ProcessGroup from "@divisi/files/ProcessGroup"
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio"
import spawn from "cross-spawn"
import { revealed, type StdioServer } from "./McpServer.ts"
import { maxBytes, messagesIn, tooLarge } from "./messages.ts"

/** Time for a server to exit after its input is closed, and again after SIGTERM, in milliseconds. */
const graceMillis = 2_000

/**
 * Time to read remaining output after a server has exited, in milliseconds. A program that it started may keep the
 * output open.
 */
const outputMillis = 1_000

const maxSaid = 4_000

/**
 * Environment variables for certificates. Without them, programs such as npx cannot connect through a corporate proxy.
 */
const certificates = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"]

const trusted = (): Record<string, string> =>
  Object.fromEntries(
    certificates.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    })
  )

/** Splits a stream into lines. A line that exceeds the size limit closes the stream. */
const lineReader = (onLine: (line: string) => void, onTooLarge: () => void) => {
  const decoder = new StringDecoder("utf8")
  let pieces: Array<string> = []
  let size = 0
  return (chunk: Buffer) => {
    const [first = "", ...rest] = decoder.write(chunk).split("\n")
    pieces.push(first)
    size += first.length
    for (const next of rest) {
      onLine(pieces.join(""))
      pieces = [next]
      size = next.length
    }
    if (size > maxBytes) {
      pieces = []
      onTooLarge()
    }
  }
}

/** Returns the most informative line: the last one that mentions an error, otherwise the last one. */
const gist = (text: string): string => {
  const lines = text.split("\n").map((line) => line.replace(/\p{Cc}+/gu, " ").trim())
  const line = lines.findLast((line) => /error/i.test(line)) ?? lines.findLast((line) => line !== "") ?? ""
  return line.slice(0, 300)
}

/** Transport for a server that is started as a process. */
export class ProcessTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: ((message: JSONRPCMessage) => void) | undefined
  readonly #server: StdioServer
  #child: ChildProcessWithoutNullStreams | undefined
  #said = ""
  #isOver = false
  #closing: Promise<void> | undefined

  constructor(server: StdioServer) {
    this.#server = server
  }

  /** Returns the server's error output as one line. */
  said(): string {
    return gist(this.#said)
  }

  start(): Promise<void> {
    const { args = [], command, cwd, env } = this.#server
    const environment = { ...getDefaultEnvironment(), ...trusted(), ...revealed(env) }
    // cross-spawn resolves `npx.cmd` and similar commands on Windows.
    const child = ProcessGroup.start(
      [command, ...args],
      { env: environment, stdio: "pipe", cwd },
      spawn
    ) as ChildProcessWithoutNullStreams
    this.#child = child
    child.stderr.on("data", (chunk: Buffer) => {
      this.#said = `${this.#said}${chunk.toString("utf8")}`.slice(-maxSaid)
    })
    child.stdout.on(
      "data",
      lineReader(
        (line) => this.#read(line),
        () => {
          this.onerror?.(tooLarge())
          void this.close()
        }
      )
    )
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      stream.on("error", (error) => this.onerror?.(error))
    }
    const soon = () => void setTimeout(() => this.#over(), outputMillis).unref()
    // A server that has closed its output cannot answer.
    child.stdout.once("end", () => {
      soon()
      void this.close()
    })
    child.once("exit", soon)
    child.once("close", () => this.#over())
    return new Promise((resolve, reject) => {
      child.once("spawn", resolve)
      child.once("error", (error) => {
        reject(error)
        this.onerror?.(error)
      })
    })
  }

  #read(line: string): void {
    if (line.trim() === "") return
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      // Some servers also write logs to their output.
      this.onerror?.(new Error(`it wrote a line that is not JSON: ${line.slice(0, 100)}`))
      return
    }
    for (const message of messagesIn(value, (error) => this.onerror?.(error))) this.onmessage?.(message)
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const stream of [this.#child!.stdin, this.#child!.stdout, this.#child!.stderr]) stream.destroy()
    this.onclose?.()
  }

  send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin
    if (input === undefined || !input.writable) return Promise.reject(new Error("Connection closed"))
    return new Promise((resolve) => {
      if (input.write(`${JSON.stringify(message)}\n`)) resolve()
      else {
        const go = () => {
          input.off("drain", go).off("close", go)
          resolve()
        }
        input.once("drain", go).once("close", go)
      }
    })
  }

  /** Closes the server's input, and stops its process group if it keeps running. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined) return
    child.stdin.end()
    await ProcessGroup.ended(child, graceMillis)
    await ProcessGroup.stop(child, graceMillis)
    this.#over()
  }
}
