/**
 * Rehearses a release: all packages are published as 0.1.0 to a local registry (verdaccio, which forwards third-party
 * packages from the registry configured for npm), installed from it by name in an empty folder, and used. Then 0.1.1 is
 * published and installed over it, and must continue to work with the runs, keys, evaluation and model stored by 0.1.0.
 * Needs `pnpm build`.
 */
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import fs from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Member } from "../setup/workspace.mjs"
import { run } from "./command.ts"
import { freePort, inProject, npmInstall } from "./installed.ts"
import type { Report } from "./Report.ts"
import { pack, tarballOf } from "./tarballs.ts"

const verdaccio = "verdaccio@6.10.4"
const [first, second] = ["0.1.0", "0.1.1"] as const

type Environment = Readonly<Record<string, string>>

/** Runs a command. Throws its output if it fails. */
const orThrow = async (cwd: string, command: ReadonlyArray<string>, env: Environment = {}): Promise<string> => {
  const { code, output } = await run(command, { cwd, env })
  if (code !== 0) throw new Error(`"${command.join(" ")}" ended with ${code}:\n${output.slice(-4000)}`)
  return output
}

// -------------------------------------------------------------------------------------------------------------------
// The registry
// -------------------------------------------------------------------------------------------------------------------

interface Registry {
  readonly url: string
  readonly stop: () => void
}

const settings = (folder: string, upstream: string): string => `
storage: ${JSON.stringify(path.join(folder, "storage"))}
uplinks:
  upstream: { url: ${JSON.stringify(upstream)}, maxage: 60m, timeout: 60s }
packages:
  "@divisi/*": { access: $all, publish: $all }
  "**": { access: $all, proxy: upstream }
max_body_size: 100mb
log: { type: stdout, format: json, level: error }
`

/** Starts a registry in a folder. */
const serveRegistry = async (folder: string): Promise<Registry> => {
  // One of its dependencies is "node-fetch@cjs", a tag that a registry mirror may lack.
  fs.writeFileSync(
    path.join(folder, "package.json"),
    JSON.stringify({ private: true, overrides: { "node-fetch": "2.7.0" } })
  )
  await orThrow(folder, npmInstall("--no-package-lock", verdaccio))
  const upstream = (await orThrow(folder, ["npm", "config", "get", "registry"])).trim()
  const file = path.join(folder, "config.yaml")
  fs.writeFileSync(file, settings(folder, upstream))
  const port = await freePort()
  const bin = path.join(folder, "node_modules/verdaccio/bin/verdaccio")
  const args = [bin, "--config", file, "--listen", `127.0.0.1:${port}`]
  const log = fs.openSync(path.join(folder, "log"), "w")
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", log, log] })
  fs.closeSync(log)
  const url = `http://127.0.0.1:${port}/`
  for (let look = 0; look < 300 && child.exitCode === null; look++) {
    const answer = await fetch(`${url}-/ping`).catch(() => undefined)
    if (answer?.ok === true) return { url, stop: () => void child.kill("SIGKILL") }
    await sleep(200)
  }
  child.kill("SIGKILL")
  throw new Error(`The registry did not start:\n${fs.readFileSync(path.join(folder, "log"), "utf8")}`)
}

/** Returns a manifest with the given version, and with matching ranges for dependencies in this workspace. */
const inVersion = (manifest: Member["manifest"], version: string) => {
  const moved = (dependencies: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(
      Object.entries(dependencies).map(([name, range]) => [
        name,
        name.startsWith("@divisi/") ? range.replace(/\d.*$/, version) : range
      ])
    )
  const { dependencies, optionalDependencies, peerDependencies } = manifest
  return {
    ...manifest,
    version,
    dependencies: moved(dependencies),
    optionalDependencies: moved(optionalDependencies),
    peerDependencies: moved(peerDependencies)
  }
}

/** Repacks a packed package with another version. */
const repack = async (folder: string, member: Member, version: string) => {
  const { name } = member.manifest
  const place = path.join(folder, `${name.replace("/", "+")}-${version}`)
  fs.mkdirSync(place)
  await orThrow(folder, ["tar", "-xzf", tarballOf(member), "-C", place])
  const file = path.join(place, "package/package.json")
  const manifest = inVersion(JSON.parse(fs.readFileSync(file, "utf8")), version)
  fs.writeFileSync(file, JSON.stringify(manifest, null, 2))
  await orThrow(place, ["tar", "-czf", "package.tgz", "package"])
  const tarball = fs.readFileSync(path.join(place, "package.tgz"))
  fs.rmSync(place, { recursive: true })
  return { manifest, tarball }
}

/**
 * Publishes a packed package with the given version. Sends the same request as `npm publish`, which takes seconds to
 * start.
 */
const publish = async (folder: string, member: Member, version: string, url: string): Promise<void> => {
  const { manifest, tarball } = await repack(folder, member, version)
  const { name } = manifest
  const file = `${name}-${version}.tgz`
  const digest = (kind: string, encoding: "base64" | "hex") => createHash(kind).update(tarball).digest(encoding)
  const dist = {
    shasum: digest("sha1", "hex"),
    integrity: `sha512-${digest("sha512", "base64")}`,
    tarball: `${url}${name}/-/${file}`
  }
  const answer = await fetch(`${url}${name.replace("/", "%2f")}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      _id: name,
      name,
      access: "public",
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
      _attachments: {
        [file]: {
          content_type: "application/octet-stream",
          data: tarball.toString("base64"),
          length: tarball.length
        }
      }
    })
  })
  if (!answer.ok) throw new Error(`${name}@${version} was not published: ${answer.status} ${await answer.text()}`)
}

const publishAll = async (folder: string, members: ReadonlyArray<Member>, version: string, url: string) => {
  for (const member of members) await publish(folder, member, version, url)
}

// -------------------------------------------------------------------------------------------------------------------
// The user
// -------------------------------------------------------------------------------------------------------------------

const question = "How many minutes are there in 3 days?"

/** The calls from the first guide, and calls that store data. `{key}` is the id of the created key. */
const before: ReadonlyArray<readonly [says: RegExp, ...args: ReadonlyArray<string>]> = [
  [/divisi\.config\.js/, "init", "--yes", "--language", "javascript"],
  [/4320/, "run", question, "--durable", "--run-id", "before-the-upgrade", "--config", "none"],
  [/"name":"alice"/, "key", "make", "alice", "--json"],
  [/lexical +\d/, "eval", "--policy", "lexical", "--limit", "5", "--out", "evaluation", "--transcripts"],
  [/learn +reward/, "train", "--recipe", "toy", "--engine", "jax", "--iterations", "1", "--out", "training"]
]

/** The calls made with the next version. */
const after: typeof before = [
  [/4320/, "runs", "show", "before-the-upgrade"],
  [/4320/, "runs", "resume", "before-the-upgrade"],
  [/alice +good/, "key", "list"],
  [/Revoked/, "key", "revoke", "{key}"],
  [/5 tasks in both/, "eval", "diff", "evaluation", "evaluation"],
  [/0 verdicts changed/, "eval", "regrade", "evaluation"],
  [/training|learn/, "train", "resume", "training"],
  [/^conductor\.gguf: /m, "train", "export", "training", "--to", "gguf", "--out", "conductor.gguf"],
  [/4320|answer/, "run", question, "--policy", "conductor", "--config", "none"]
]

/** The packages that the user installs by name. */
const named = ["cli", "core", "gym", "server", "trainer-jax"].map((name) => `@divisi/${name}`)

/** Installs the first version, uses it, upgrades, and uses the second version. */
const rehearse = async (app: string, members: ReadonlyArray<Member>, registry: Registry, folder: string) => {
  const problems: Array<string> = []
  const home = path.join(app, "home")
  fs.mkdirSync(home)
  const environment = { HOME: home, NO_COLOR: "1" }
  const bin = path.join(app, "node_modules/@divisi/cli/bin/divisi.js")
  let key = ""
  const expect = async (says: RegExp, name: string, command: ReadonlyArray<string>): Promise<void> => {
    const { code, output } = await run(command, { cwd: app, env: environment })
    key ||= /"id":"(\w+)","name":"alice"|"name":"alice".*?"id":"(\w+)"/.exec(output)?.slice(1).find(Boolean) ?? ""
    if (code === 0 && says.test(output)) return
    problems.push(`${name} should say ${says}; it ended with ${code}:\n${output.slice(-2000)}`)
  }
  const use = async (calls: typeof before): Promise<void> => {
    for (const [says, ...args] of calls) {
      const words = args.map((word) => (word === "{key}" ? key : word))
      await expect(says, `divisi ${words.join(" ")}`, [process.execPath, bin, ...words])
    }
  }
  // Otherwise, npm uses the versions that it has cached for the registry.
  const install = (version: string) =>
    orThrow(app, ["npm", "install", "--no-audit", "--no-fund", ...named.map((name) => `${name}@${version}`)], {
      npm_config_prefer_online: "true",
      npm_config_registry: registry.url
    })

  /** The version in the command line is set at build time, so the manifest changed by this check is read instead. */
  const isInstalled = (version: string) => {
    const program = `console.log(require("@divisi/cli/package.json").version)`
    const says = new RegExp(`^${version.replaceAll(".", "\\.")}$`, "m")
    return expect(says, "the installed version", [process.execPath, "--input-type=commonjs", "--eval", program])
  }

  await publishAll(folder, members, first, registry.url)
  await install(first)
  await isInstalled(first)
  await use(before)
  await expect(/./, "the script that divisi init wrote", [process.execPath, "first.js"])
  await publishAll(folder, members, second, registry.url)
  await install("latest")
  await isInstalled(second)
  await use(after)
  return problems
}

/**
 * Packs the packages and rehearses the release. Counts one check per call of `divisi`, one for the script, and one per
 * version.
 */
export const check = async (): Promise<Report> => {
  const members = await pack()
  const problems = await inProject(async (folder) => {
    const registry = await serveRegistry(folder)
    try {
      return await inProject((app) => rehearse(app, members, registry, folder))
    } catch (error) {
      return [(error as Error).message]
    } finally {
      registry.stop()
    }
  })
  return { passed: Math.max(0, before.length + after.length + 3 - problems.length), problems }
}
