/**
 * Small disks that can be filled, emptied and locked: in-memory file systems in a namespace of this process, which
 * require no privileges and leave nothing behind. If the system does not support this, an ordinary folder with a
 * limited file size is used instead.
 */
import { spawn, spawnSync } from "node:child_process"
import fs from "node:fs"
import path from "node:path"

const unshare = ["--user", "--map-root-user", "--mount", "--kill-child"]

const isInside = process.env.DIVISI_DISKS === "inside"

/** Whether this system allows it. */
export const isPossible = (): boolean =>
  process.platform === "linux" &&
  spawnSync("unshare", [...unshare, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0

/**
 * Runs this process again in a namespace where it may mount disks, and ends with that process. Returns at once if it is
 * already in one.
 */
export const enter = async (): Promise<number | undefined> => {
  if (isInside) return undefined
  const child = spawn("unshare", [...unshare, process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
    stdio: "inherit",
    env: { ...process.env, DIVISI_DISKS: "inside" }
  })
  return new Promise((resolve) => child.on("close", (code) => resolve(code ?? 1)))
}

const run = (command: string, ...args: ReadonlyArray<string>) => {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" })
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`)
}

/** A prefix that runs a command in a namespace with other process ids. */
export const otherProcesses = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]

/** A mounted disk. */
export interface Disk {
  readonly folder: string
  /** Pages that are taken. */
  readonly used: () => number
  /** Whether the disk is full. */
  readonly isFull: () => boolean
  /** Leaves so many pages. */
  readonly fill: (pages: number) => void
  /** Gives all room back. */
  readonly empty: () => void
  readonly setReadOnly: (isReadOnly: boolean) => void
  /** The prefix of a command that writes to the disk. */
  readonly within: () => ReadonlyArray<string>
  readonly unmount: () => void
}

const pageBytes = 4096

/** Mounts a disk of 64 or more megabytes in a new folder. */
export const mount = (folder: string, megabytes = 64): Disk => {
  fs.mkdirSync(folder, { recursive: true })
  run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder)
  const ballast = path.join(folder, ".ballast")
  return {
    folder,
    used: () => {
      const { bavail, blocks } = fs.statfsSync(folder)
      return blocks - bavail
    },
    isFull: () => fs.statfsSync(folder).bavail === 0,
    fill: (pages) => {
      const { bavail, bsize } = fs.statfsSync(folder)
      fs.writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - pages * pageBytes)))
    },
    empty: () => fs.rmSync(ballast, { force: true }),
    setReadOnly: (isReadOnly) => run("mount", "-o", `remount,${isReadOnly ? "ro" : "rw"}`, folder),
    within: () => [],
    unmount: () => {
      run("umount", "-l", folder)
      fs.rmdirSync(folder)
    }
  }
}

const pagesIn = (folder: string): number =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((pages, { name, parentPath }) => {
      // It may be gone again.
      const size = fs.statSync(path.join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0
      return pages + Math.ceil(size / pageBytes)
    }, 0)

/** Nobody else is kept from writing by the mode of a folder. */
export const isRoot = process.getuid?.() === 0

/** A folder instead of a disk: `fill` limits the size of each file, for commands that start afterwards. */
export const folder = (folder: string): Disk => {
  fs.mkdirSync(folder, { recursive: true })
  let limit: number | undefined
  return {
    folder,
    used: () => pagesIn(folder),
    isFull: () => limit !== undefined,
    fill: (pages) => {
      limit = pages
    },
    empty: () => {
      limit = undefined
    },
    setReadOnly: (isReadOnly) => fs.chmodSync(folder, isReadOnly ? 0o555 : 0o755),
    // In units of 1,024 bytes. Node ignores the signal, so that a write fails.
    within: () =>
      limit === undefined ? [] : ["bash", "-c", `ulimit -f ${(limit * pageBytes) / 1024}; exec "$@"`, "limited"],
    unmount: () => fs.rmSync(folder, { recursive: true, force: true })
  }
}
