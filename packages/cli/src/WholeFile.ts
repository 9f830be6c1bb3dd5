/** Files that are there in whole or not at all: written beside their name, and renamed when they are complete. */
import { renameSync, rmSync, writeFileSync } from "node:fs"

/** Writes a text. Throws what the system says. */
export const write = (file: string, text: string): void => {
  const temporary = `${file}.${process.pid}.tmp`
  try {
    writeFileSync(temporary, text)
    renameSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
}
