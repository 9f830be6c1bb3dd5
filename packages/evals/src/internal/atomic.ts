/** Files that are there in whole or not at all. */
import fs from "node:fs"
import path from "node:path"

/** Writes texts to a file, one after another, and gives it its name once it is on the disk. */
export const write = (file: string, texts: Iterable<string>): void => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const partial = `${file}.${process.pid}.part`
  try {
    const descriptor = fs.openSync(partial, "w")
    try {
      for (const text of texts) fs.writeSync(descriptor, text)
      fs.fsyncSync(descriptor)
    } finally {
      fs.closeSync(descriptor)
    }
    fs.renameSync(partial, file)
  } finally {
    fs.rmSync(partial, { force: true })
  }
}
