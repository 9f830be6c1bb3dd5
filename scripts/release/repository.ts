/**
 * Where the source of a package is. npm's provenance compares it with where the package was built, so a published
 * manifest has to say it; in the workspace, the root manifest alone does.
 */
import fs from "node:fs"
import path from "node:path"

interface Repository {
  readonly type: string
  readonly url: string
}

const read = (folder: string) => fs.readFileSync(path.join(folder, "package.json"), "utf8")

const repositoryOf = (root: string): Repository => {
  const { repository } = JSON.parse(read(root))
  if (typeof repository?.type !== "string" || typeof repository.url !== "string") {
    throw new Error('package.json: "repository" must have a type and a url; packages are published with it.')
  }
  return repository
}

/** While `use` runs, the manifests in `folders` say where in the repository their package is. */
export const withRepository = <A>(root: string, folders: ReadonlyArray<string>, use: () => A): A => {
  const { type, url } = repositoryOf(root)
  const before = folders.map((folder) => ({ folder, text: read(folder) }))
  const write = (folder: string, text: string) => fs.writeFileSync(path.join(folder, "package.json"), text)
  try {
    for (const { folder, text } of before) {
      const directory = path.relative(root, folder).split(path.sep).join("/")
      write(folder, `${JSON.stringify({ ...JSON.parse(text), repository: { type, url, directory } }, null, 2)}\n`)
    }
    return use()
  } finally {
    for (const { folder, text } of before) write(folder, text)
  }
}
