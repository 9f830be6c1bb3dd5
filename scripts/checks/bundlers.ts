/**
 * Checks that an app with providers works with bundlers and other runtimes: it is installed from the packed packages,
 * bundled with esbuild, Vite and Next, and run with Bun and Deno. In each case, it must receive the answer and the
 * errors of a local vendor. Needs `pnpm build`.
 */
import { spawn } from "node:child_process"
import fs from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { type Finished, run } from "./command.ts"
import { freePort, inProject, install } from "./installed.ts"
import type { Report } from "./Report.ts"
import { pack, tarballsOf } from "./tarballs.ts"
import { problemOf, serveVendor } from "./vendor.ts"

const providers = ["anthropic", "google", "openai"].map((name) => `@divisi/providers-${name}`)

const program = fileURLToPath(new URL("../installation/vendors.mjs", import.meta.url))

/** The app as a script and as a Next route. */
const files: Readonly<Record<string, string>> = {
  "app.mjs": `import { ask } from "./vendors.mjs"\nask().then((said) => console.log(JSON.stringify(said)))\n`,
  "vite.config.mjs": `export default { build: { ssr: "app.mjs", outDir: "vite" }, ssr: { noExternal: true }, logLevel: "error" }\n`,
  "app/ask/route.js": `import { ask } from "../../vendors.mjs"
export const dynamic = "force-dynamic"
export const GET = async () => Response.json(await ask())
`
}

/** A way to run the app: the packages to install, and commands, the last of which prints the result. */
interface Way {
  readonly packages: ReadonlyArray<string>
  readonly commands: ReadonlyArray<ReadonlyArray<string>>
}

const tool = (name: string, ...args: ReadonlyArray<string>) => [path.join("node_modules/.bin", name), ...args]

const esbuild = (format: "cjs" | "esm", file: string): Way => ({
  packages: ["esbuild@0.28.2"],
  commands: [
    tool("esbuild", "app.mjs", "--bundle", "--platform=node", `--format=${format}`, `--outfile=${file}`),
    [process.execPath, file]
  ]
})

const ways: Readonly<Record<string, Way>> = {
  "esbuild to ESM": esbuild("esm", "bundled.mjs"),
  "esbuild to CJS": esbuild("cjs", "bundled.cjs"),
  Vite: { packages: ["vite@8.3.8"], commands: [tool("vite", "build"), [process.execPath, "vite/app.js"]] },
  Bun: { packages: ["bun@1.4.5"], commands: [tool("bun", "app.mjs")] },
  Deno: { packages: ["deno@2.9.6"], commands: [tool("deno", "run", "--allow-all", "--no-lock", "app.mjs")] }
}

const tried = async (folder: string, { commands }: Way, env: Readonly<Record<string, string>>) => {
  let finished: Finished = { code: 0, output: "", stdout: "", cpuSeconds: 0 }
  for (const command of commands) {
    finished = await run(command, { cwd: folder, env })
    if (finished.code !== 0)
      return `"${command.join(" ")}" ended with ${finished.code}:\n${finished.output.slice(-3000)}`
  }
  return problemOf(finished.output)
}

/** Builds the app with Next, starts it, and requests its route. */
const next = async (folder: string, env: Readonly<Record<string, string>>): Promise<string | undefined> => {
  const built = await run(tool("next", "build"), { cwd: folder, env })
  if (built.code !== 0) return `"next build" ended with ${built.code}:\n${built.output.slice(-3000)}`
  const port = await freePort()
  const start = [path.join(folder, "node_modules/next/dist/bin/next"), "start", "--port", `${port}`]
  const child = spawn(process.execPath, start, { cwd: folder, env: { ...process.env, ...env }, stdio: "ignore" })
  try {
    for (let look = 0; look < 150 && child.exitCode === null; look++) {
      const text = await fetch(`http://127.0.0.1:${port}/ask`).then(
        (response) => response.text(),
        () => undefined
      )
      if (text !== undefined) return problemOf(text)
      await sleep(200)
    }
    return "the server of Next did not start."
  } finally {
    child.kill("SIGKILL")
  }
}

/** Writes the app to a folder, installs packages and tools, and runs it there. */
const withApp = async (
  tools: ReadonlyArray<string>,
  use: (folder: string, env: Readonly<Record<string, string>>) => Promise<Report>
): Promise<Report> => {
  await pack()
  const vendor = await serveVendor()
  try {
    return await inProject(async (folder) => {
      for (const [name, text] of Object.entries(files)) {
        fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
        fs.writeFileSync(path.join(folder, name), text)
      }
      fs.copyFileSync(program, path.join(folder, path.basename(program)))
      const installed = await install(folder, [...tarballsOf(["@divisi/core", ...providers]), ...new Set(tools)])
      if (installed.code !== 0) return { passed: 0, problems: [`npm install failed:\n${installed.output}`] }
      return use(folder, { VENDOR_URL: vendor.url, NEXT_TELEMETRY_DISABLED: "1", NO_COLOR: "1" })
    })
  } finally {
    vendor.stop()
  }
}

const tools = Object.values(ways).flatMap(({ packages }) => packages)

/** Runs the app in all ways except Next. */
export const check = (): Promise<Report> =>
  withApp(tools, async (folder, env) => {
    const problems: Array<string> = []
    for (const [name, way] of Object.entries(ways)) {
      const problem = await tried(folder, way, env)
      if (problem !== undefined) problems.push(`${name}: ${problem}`)
    }
    return { passed: Object.keys(ways).length - problems.length, problems }
  })

/** Runs the app as a Next route, which takes as long as all other ways together. */
export const checkNext = (): Promise<Report> =>
  withApp(["next@16.4.6", "react@19.3.1", "react-dom@19.3.1"], async (folder, env) => {
    const problem = await next(folder, env)
    return { passed: problem === undefined ? 1 : 0, problems: problem === undefined ? [] : [problem] }
  })
