/**
 * Restricts files to their owner. Everything that Divisi writes has mode 0600 (folders: 0700), since questions,
 * answers, keys and costs are private to the user. Generated source code follows the umask instead.
 *
 * Older files may have wider permissions. In this user's own folders (`UserFolders`), their permissions are restricted
 * on next use; for any other file, a warning contains the command to do so.
 */
import fs from "node:fs"
import path from "node:path"
import * as Effect from "effect/Effect"
import { Report } from "./FileError.ts"
import * as Platform from "./internal/platform.ts"
import * as UserFolders from "./UserFolders.ts"

/** File mode of new files. */
export const fileMode = 0o600

/**
 * File mode of new folders.
 *
 * @internal
 */
export const folderMode = 0o700

/** Permission bits for other users. */
const ofOthers = 0o077

/** Access to a new file: only its owner, or as determined by the umask. */
export type Access = "owner" | "umask"

const { hasModes } = Platform.current

const isOpen = (mode: number): boolean => hasModes && (mode & ofOthers) !== 0

/**
 * Creates an empty file that only its owner can read, unless it exists: for libraries that open files with their own
 * mode.
 *
 * @internal
 */
export const createNow = (file: string): void => {
  try {
    fs.closeSync(fs.openSync(file, "wx", fileMode))
  } catch {
    // It exists already, or the next attempt to open it reports the error.
  }
}

/**
 * Removes other users' permissions from a file or folder without opening it, which would free the locks that SQLite has
 * on it. Returns whether it succeeded. Files of other users are not changed.
 *
 * @internal
 */
export const closeNow = (file: string, mode: number = fileMode): boolean => {
  try {
    fs.chmodSync(file, mode & 0o7777 & ~ofOthers)
    return true
  } catch {
    return false
  }
}

const isBelow = (folder: string, name: string): boolean => name === folder || name.startsWith(folder + path.sep)

/** Maximum number of entries to restrict in a folder, so that the first use remains fast. */
const mostEntries = 20_000

const closeAll = (root: string): void => {
  const folders = [root]
  for (let count = 0; folders.length > 0 && count < mostEntries; ) {
    const folder = folders.pop()!
    for (const name of fs.readdirSync(folder)) {
      const one = path.join(folder, name)
      const found = fs.lstatSync(one, { throwIfNoEntry: false })
      count += 1
      if (found === undefined || found.isSymbolicLink()) continue
      if (isOpen(found.mode)) closeNow(one, found.mode)
      if (found.isDirectory()) folders.push(one)
    }
  }
}

/**
 * Restricts the permissions of the user's own folder that contains a path, and of everything in it, if other users can
 * access it.
 *
 * @internal
 */
export const closeOwnFolderOf = (name: string): void => {
  if (!hasModes) return
  const root = UserFolders.ownFoldersNow().find((folder) => isBelow(folder, path.resolve(name)))
  const found = root === undefined ? undefined : fs.lstatSync(root, { throwIfNoEntry: false })
  if (root === undefined || found === undefined || !found.isDirectory() || !isOpen(found.mode)) return
  try {
    closeAll(root)
  } catch {
    // A folder that cannot be read holds nothing that other users can.
  }
  closeNow(root, found.mode)
}

/** Folders with files that were already reported, so that each folder is reported only once. */
const reported = new Set<string>()

const quoted = (file: string): string => (/^[\w@%+=:,./-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`)

/**
 * Restricts the permissions of a file in the user's own folders that was created by an older version. For every other
 * folder, warns once if it contains files that other users can read. Returns the resulting mode of the file.
 */
export const check = (file: string, known?: fs.Stats | undefined): Effect.Effect<number> =>
  Effect.suspend(() => {
    const whole = path.resolve(file)
    const found = known ?? fs.statSync(whole, { throwIfNoEntry: false })
    if (found === undefined) return Effect.succeed(fileMode)
    const { mode } = found
    const folder = path.dirname(whole)
    if (!found.isFile() || !isOpen(mode) || reported.has(folder)) return Effect.succeed(mode)
    const isOwn = UserFolders.ownFoldersNow().some((folder) => isBelow(folder, whole))
    if (isOwn && closeNow(whole, mode)) return Effect.succeed(mode & ~ofOthers)
    reported.add(folder)
    const message = `Other users of this machine can read files in ${folder}, e.g. ${path.basename(whole)}. To change that: chmod go= ${quoted(folder)}/*`
    return Effect.map(Report, (report) => {
      report(message)
      return mode
    })
  })
