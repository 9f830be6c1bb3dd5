/**
 * Other gateways of the bench. They are installed into a separate folder and are not dependencies of this repository.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import fs from "node:fs/promises"
import * as Net from "node:net"
import path from "node:path"
import { promisify } from "node:util"

const execute = promisify(execFile)

/** A gateway that runs. */
export interface Running {
  readonly child: ChildProcess
  readonly port: number
}

/** A third-party gateway. */
export interface Peer {
  readonly name: string
  /** Headers that its clients send with every request. */
  readonly headers: (upstream: number) => Readonly<Record<string, string>>
  readonly model: string
  readonly install: (folder: string) => Promise<unknown>
  readonly start: (folder: string, upstream: number, port: number) => Promise<ChildProcess>
}

/** Returns a free port. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = Net.createServer()
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as Net.AddressInfo
      server.close(() => resolve(port))
    })
  })

const run = (
  command: string,
  given: ReadonlyArray<string>,
  folder: string,
  more: NodeJS.ProcessEnv = {}
): ChildProcess =>
  spawn(command, given, { cwd: folder, stdio: "ignore", env: { ...process.env, NODE_ENV: "production", ...more } })

const npm = (folder: string, name: string) =>
  execute("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", name], {
    timeout: 300_000
  })

const llmsServer = (upstream: number, port: number): string => `
const Server = require("@musistudio/llms")
const provider = {
  name: "up",
  api_base_url: "http://127.0.0.1:${upstream}/v1/chat/completions",
  api_key: "none",
  models: ["stand-in"]
}
const server = new (Server.default ?? Server)({
  logger: false,
  initialConfig: { providers: [provider], PORT: ${port}, HOST: "127.0.0.1", LOG: false }
})
server.start()
`

/** Without a key it does not start. */
const liteLlmKey = "sk-bench-of-gateways-0123456789abcdef"

const liteLlmConfig = (upstream: number): string => `
model_list:
  - model_name: stand-in
    litellm_params:
      model: openai/stand-in
      api_base: http://127.0.0.1:${upstream}/v1
      api_key: none
`

/** All of them. */
export const peers: ReadonlyArray<Peer> = [
  {
    name: "llms",
    headers: () => ({}),
    model: "up,stand-in",
    install: (folder) => npm(folder, "@musistudio/llms"),
    start: async (folder, upstream, port) => {
      await fs.writeFile(path.join(folder, "serve.cjs"), llmsServer(upstream, port))
      return run(process.execPath, ["serve.cjs"], folder)
    }
  },
  {
    name: "portkey",
    headers: (upstream) => ({
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `http://127.0.0.1:${upstream}/v1`,
      authorization: "Bearer none"
    }),
    model: "stand-in",
    install: (folder) => npm(folder, "@portkey-ai/gateway"),
    start: async (folder, upstream, port) =>
      run(
        process.execPath,
        ["node_modules/@portkey-ai/gateway/build/start-server.js", "--headless", `--port=${port}`],
        folder,
        // By default, it refuses to call local addresses.
        { TRUSTED_CUSTOM_HOSTS: `127.0.0.1,localhost,127.0.0.1:${upstream}` }
      )
  },
  {
    name: "litellm",
    headers: () => ({ authorization: `Bearer ${liteLlmKey}` }),
    model: "stand-in",
    install: async (folder) => {
      await execute("python3", ["-m", "venv", path.join(folder, "venv")], { timeout: 120_000 })
      await execute(path.join(folder, "venv/bin/pip"), ["install", "--quiet", "litellm[proxy]"], { timeout: 600_000 })
    },
    start: async (folder, upstream, port) => {
      await fs.writeFile(path.join(folder, "config.yaml"), liteLlmConfig(upstream))
      const given = ["--config", "config.yaml", "--host", "127.0.0.1", "--port", `${port}`, "--num_workers", "1"]
      // Its list of prices comes from its own package, not from the network.
      const more = { LITELLM_MASTER_KEY: liteLlmKey, LITELLM_LOCAL_MODEL_COST_MAP: "True", LITELLM_LOG: "ERROR" }
      return run("venv/bin/litellm", given, folder, more)
    }
  }
]

const exists = (file: string): Promise<boolean> =>
  fs.access(file).then(
    () => true,
    () => false
  )

/** Installs a gateway where it is not yet, starts it, and waits until it listens. */
export const start = async (peer: Peer, folder: string, upstream: number): Promise<Running> => {
  const own = path.join(folder, peer.name)
  const mark = path.join(own, "installed")
  await fs.mkdir(own, { recursive: true })
  if (!(await exists(mark))) {
    await peer.install(own)
    await fs.writeFile(mark, "")
  }
  const port = await freePort()
  const child = await peer.start(own, upstream, port)
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${peer.name} ended with ${child.exitCode}`)
    const listens = await new Promise<boolean>((resolve) => {
      const socket = Net.connect(port, "127.0.0.1", () => socket.end(() => resolve(true)))
      socket.on("error", () => resolve(false))
    })
    if (listens) return { child, port }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  child.kill()
  throw new Error(`${peer.name} does not listen`)
}
