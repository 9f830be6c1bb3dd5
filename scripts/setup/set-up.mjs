/**
 * Prepares a clone so that its commands can run: installs dependencies and builds packages. Completed work is not
 * repeated, and interrupted work is restarted.
 */
import { spawnSync } from "node:child_process"
import fs from "node:fs"
import { createRequire } from "node:module"
import os from "node:os"
import path from "node:path"
import { linkCommand } from "./bin.mjs"
import { withLock } from "./lock.mjs"
import { npm } from "./npm.mjs"
import { clearLog, report, run, stage, title } from "./progress.mjs"
import * as State from "./state.mjs"
import { root } from "./workspace.mjs"

/** @typedef {import("./workspace.mjs").Member} Member */

const noNetwork =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT|dns error|error sending request|ERR_PNPM_META_FETCH_FAIL/i

/** @param {string} output */
const explainInstall = (output) =>
  noNetwork.test(output)
    ? "The package registry could not be reached. Check the network (and npm's proxy and registry settings), then run\n" +
      "the same command again: it goes on where this one stopped."
    : undefined

/**
 * Returns the command for the pnpm version in package.json's `packageManager`: the one on the PATH if it has that
 * version, otherwise one installed by npm.
 *
 * @returns {ReadonlyArray<string>}
 */
export const pnpm = () => {
  const { packageManager } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))
  const version = packageManager.slice("pnpm@".length)
  const found = spawnSync("pnpm", ["--version"], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, COREPACK_ENABLE_DOWNLOAD_PROMPT: "0" },
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "ignore"]
  })
  if (found.stdout?.trim() === version) return ["pnpm"]
  return [...npm(), "exec", "--yes", `--package=${packageManager}`, "--", "pnpm"]
}

// By default, pnpm retries for many minutes before it reports that there is no network.
const installOptions = [
  "--frozen-lockfile",
  "--config.confirmModulesPurge=false",
  "--config.fetchRetries=1",
  "--config.fetchRetryMintimeout=1000",
  "--config.fetchRetryMaxtimeout=2000"
]

const install = () =>
  stage("installing dependencies", () => run([...pnpm(), "install", ...installOptions], root, explainInstall))

const declarations = path.join(root, "scripts/setup/declarations.mjs")

/**
 * Returns the scripts that a package's build runs between tsup, which empties `dist`, and the declarations: `tsup &&
 * node scripts/template.ts && node ../../scripts/setup/declarations.mjs`.
 *
 * @param {Member} member
 */
const afterBuild = ({ folder, manifest }) => {
  const [, ...commands] = (manifest.scripts?.build ?? "").split(" && ")
  const scripts = commands.map((command) => command.replace(/^node /, ""))
  return scripts.filter((script) => path.resolve(folder, script) !== declarations)
}

/**
 * Processes the packages in parallel, one per core.
 *
 * @param {ReadonlyArray<Member>} members
 * @param {(member: Member) => Promise<void>} work
 */
const forEach = async (members, work) => {
  const queue = [...members]
  const lane = async () => {
    for (let member = queue.shift(); member !== undefined; member = queue.shift()) await work(member)
  }
  await Promise.all(Array.from({ length: Math.min(os.availableParallelism(), 4) }, lane))
}

/**
 * Builds packages without declarations, which are needed only outside of this workspace.
 *
 * @param {ReadonlyArray<Member>} stale
 * @param {(member: Member) => void} built
 */
const build = (stale, built) => {
  const tsup = createRequire(path.join(root, "package.json")).resolve("tsup/dist/cli-default.js")
  return forEach(stale, async (member) => {
    await run([process.execPath, tsup], member.folder)
    for (const script of afterBuild(member)) await run([process.execPath, script], member.folder)
    built(member)
  })
}

/**
 * Whether a package is built, including its declarations, and was not edited since.
 *
 * @param {Member} member
 */
const isWhole = ({ folder }) => {
  const built = fs.statSync(path.join(folder, "dist/index.d.ts"), { throwIfNoEntry: false })
  return built !== undefined && built.mtimeMs > State.newestInput(folder)
}

/**
 * Builds packages completely, including declarations, unless they already are. JavaScript built by {@link setUp} is used.
 *
 * @param {ReadonlyArray<Member>} members
 */
export const buildMissing = async (members) => {
  const partial = members.filter((member) => !isWhole(member))
  if (partial.length === 0) return
  const names = partial.map(({ manifest }) => manifest.name).join(", ")
  const label = `building ${partial.length === 1 ? names : `${partial.length} packages`} with declarations (once)`
  await stage(label, async () => {
    await build(findStale(State.read(), partial, State.dependenciesFingerprint()), () => {})
    await run([process.execPath, declarations, ...partial.map(({ folder }) => folder)], root)
  })
}

/**
 * @param {State.State} state
 * @param {ReadonlyArray<Member>} wanted
 * @param {string} dependencies
 */
const findStale = (state, wanted, dependencies) =>
  wanted.filter(({ folder, manifest }) => {
    const last = state.builds[manifest.name]
    return (
      last?.inputs !== State.buildFingerprint(folder, dependencies) ||
      last.outputs.length === 0 ||
      !last.outputs.every((name) => fs.existsSync(path.join(folder, name)))
    )
  })

/**
 * Sets up everything required to run the given packages.
 *
 * @param {ReadonlyArray<Member>} wanted
 */
const setUpUnlocked = async (wanted) => {
  clearLog()
  let state = State.read()
  const dependencies = State.dependenciesFingerprint()
  if (state.dependencies !== dependencies || !State.dependenciesExist()) {
    if (state.dependencies === undefined) title()
    await install()
    // Users who do not let packages run scripts (`ignore-scripts`) have no command from the installation itself.
    linkCommand()
    state = { ...state, dependencies }
    State.write(state)
  }
  const stale = findStale(state, wanted, dependencies)
  if (stale.length === 0) return
  const names = stale.length > 3 ? `${stale.length} packages` : stale.map(({ manifest }) => manifest.name).join(", ")
  const label = stale.length === wanted.length ? "building" : `building ${names}`
  await stage(label, () =>
    build(stale, ({ folder, manifest }) => {
      state.builds[manifest.name] = {
        inputs: State.buildFingerprint(folder, dependencies),
        outputs: State.outputs(folder)
      }
      State.write(state)
    })
  )
}

/** @param {ReadonlyArray<Member>} wanted */
const isSetUp = (wanted) => {
  const state = State.read()
  const dependencies = State.dependenciesFingerprint()
  return (
    state.dependencies === dependencies &&
    State.dependenciesExist() &&
    findStale(state, wanted, dependencies).length === 0
  )
}

/**
 * Sets up everything required to run the given packages. If this fails, prints the reason and returns false.
 *
 * @param {ReadonlyArray<Member>} wanted
 * @returns {Promise<boolean>}
 */
export const setUp = async (wanted) => {
  try {
    if (!isSetUp(wanted)) await withLock(() => setUpUnlocked(wanted))
    return true
  } catch (error) {
    report(error)
    return false
  }
}
