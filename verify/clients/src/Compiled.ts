/**
 * Clients in compiled languages, each a program in a separate folder. They run on machines where the language is
 * installed.
 */
import { spawnSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { ended, type Report, run } from "./Check.ts"
import { folder } from "./Folders.ts"

type Command = readonly [string, ...ReadonlyArray<string>]

interface Client {
  readonly folder: string
  /** A program of the language, which the machine has or not. */
  readonly needs: Command
  readonly build: Command
  readonly command: (url: string) => Command
  /** The file with the version, and its pattern in that file. */
  readonly version: readonly [file: string, pattern: RegExp]
}

const target = "target"

const clients: Readonly<Record<string, Client>> = {
  "go-openai": {
    folder: "go",
    needs: ["go", "version"],
    build: ["go", "build", "-o", path.join(target, "client"), "."],
    command: (url) => [path.join(folder("go"), target, "client"), url],
    version: ["go.mod", /go-openai v([\d.]+)/]
  },
  langchain4j: {
    folder: "java",
    needs: ["mvn", "--version"],
    build: ["mvn", "-q", "compile", "dependency:build-classpath", `-Dmdep.outputFile=${target}/classpath`],
    command: (url) => {
      const classes = path.join(folder("java"), target, "classes")
      const classpath = fs.readFileSync(path.join(folder("java"), target, "classpath"), "utf8").trim()
      return ["java", "-cp", `${classes}:${classpath}`, "Client", url]
    },
    version: ["pom.xml", /<version>(\d+\.\d+\.\d+)<\/version>/]
  }
}

/** The clients that are checked. */
export const names = Object.keys(clients)

/** Whether this machine has the language of a client. */
export const isAble = (name: string): boolean => {
  const [program, ...args] = clients[name]!.needs
  return spawnSync(program, args).status === 0
}

/** Builds a client with its packages. */
export const install = async (name: string): Promise<void> => {
  const { build, folder: own } = clients[name]!
  const { code, output } = await run(build, { cwd: folder(own), seconds: 600 })
  if (code !== 0) throw new Error(`Building ${name} failed:\n${output.slice(-2_000)}`)
}

/** Checks one. */
export const check = async (name: string, url: string): Promise<Report> => {
  const { command, folder: own, version } = clients[name]!
  const [file, pattern] = version
  const finished = await run(command(url), { cwd: folder(own), seconds: 120 })
  return {
    client: name,
    version: pattern.exec(fs.readFileSync(path.join(folder(own), file), "utf8"))?.[1] ?? "?",
    checks: [ended("it runs to its end", finished)]
  }
}
