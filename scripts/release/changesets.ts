/** Changesets that are not part of a version yet. */
import fs from "node:fs"
import path from "node:path"

/** Returns the paths of pending changesets, relative to the root. */
export const pending = (root: string): ReadonlyArray<string> =>
  fs
    .readdirSync(path.join(root, ".changeset"))
    .filter((file) => file.endsWith(".md") && file !== "README.md")
    .map((file) => `.changeset/${file}`)
