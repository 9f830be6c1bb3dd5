/** Files that are whole or not there, whenever the process is killed. */
import * as fs from "node:fs"
import * as path from "node:path"

/** Waits until a file or folder is on the disk. */
export const sync = (file: string) => {
  const handle = fs.openSync(file, "r")
  try {
    fs.fsyncSync(handle)
  } finally {
    fs.closeSync(handle)
  }
}

/** Folders cannot be synchronised on every system; where they cannot, the system keeps their order itself. */
export const syncFolder = (folder: string) => {
  try {
    sync(folder)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== "EISDIR" && code !== "EPERM" && code !== "EACCES" && code !== "EINVAL") throw error
  }
}

/**
 * Writes a file under another name first: what is read is the old file or the new one, whenever the process dies. That it
 * outlives the system, too, takes {@link sync}.
 */
export const replace = (file: string, content: string | Uint8Array): void => {
  const partial = `${file}.partial`
  fs.writeFileSync(partial, content)
  fs.renameSync(partial, file)
}

/** As {@link replace}, and waits until the file is on the disk. */
export const writeFile = (file: string, content: string | Uint8Array): void => {
  const partial = `${file}.partial`
  fs.writeFileSync(partial, content)
  sync(partial)
  fs.renameSync(partial, file)
  syncFolder(path.dirname(file))
}

const syncAll = (folder: string) => {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const whole = path.join(entry.parentPath, entry.name)
    if (entry.isDirectory()) syncFolder(whole)
    else if (entry.isFile()) sync(whole)
  }
  syncFolder(folder)
}

/** Gives a folder that was filled under another name its own: it is there with all that is in it, or not at all. */
export const publishFolder = (partial: string, folder: string): void => {
  syncAll(partial)
  fs.renameSync(partial, folder)
  syncFolder(path.dirname(folder))
}
