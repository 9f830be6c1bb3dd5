/** Starts the servers in `packages/studio/test/fixtures/serve.ts`, which use the package sources. */
import { spawn } from "node:child_process"
import path from "node:path"
import { root } from "../setup/workspace.mjs"

const script = path.join(root, "packages/studio/test/fixtures/serve.ts")

/** Starts a server. Returns the addresses that it prints. */
export const serve = async <A>(kind: "large" | "hostile", argument: string) => {
  const child = spawn(process.execPath, ["--conditions=@divisi/source", script, kind, argument], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const printed = await new Promise<A>((resolve, reject) => {
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      text += piece
      if (text.endsWith("\n")) resolve(JSON.parse(text) as A)
    })
    child.on("close", (code) => reject(new Error(`The server of ${kind} contents ended with ${code}.`)))
  })
  return { printed, stop: () => child.kill() }
}
