/**
 * Completes a package's manifest for publication: repository (which npm's provenance compares with the place of the
 * build), homepage, bug tracker and author. In the workspace, only the root manifest contains these. Relative links in
 * its README are converted to URLs, because the package does not include the files that they refer to.
 */
import fs from "node:fs"
import path from "node:path"

interface Root {
  readonly repository: { readonly type: string; readonly url: string }
  readonly author: string
}

const read = (folder: string, file = "package.json") => fs.readFileSync(path.join(folder, file), "utf8")

const rootOf = (root: string): Root => {
  const { author, repository } = JSON.parse(read(root))
  if (typeof repository?.type !== "string" || typeof repository.url !== "string") {
    throw new Error('package.json: "repository" must have a type and a url; packages are published with it.')
  }
  if (typeof author !== "string") throw new Error('package.json: "author" must say whose the packages are.')
  return { repository, author }
}

/** Returns the page of a repository: `https://host/owner/name` for `git+https://host/owner/name.git`. */
const pageOf = (url: string): string => url.replace(/^git\+/, "").replace(/\.git$/, "")

/** Returns the additional fields for the package in a directory of the repository. */
const fieldsOf = ({ author, repository: { type, url } }: Root, directory: string) => ({
  homepage: `${pageOf(url)}/tree/HEAD/${directory}#readme`,
  bugs: { url: `${pageOf(url)}/issues` },
  repository: { type, url, directory },
  author
})

/** Matches a relative Markdown link, `](target)`, but not URLs and anchors. */
const link = /\]\((?![a-z][a-z0-9+.-]*:|#|\/)([^)\s]+)\)/gi

/** Returns a README with its relative links converted to URLs. */
export const withAddresses = (text: string, url: string, directory: string): string =>
  text.replace(link, (_, target: string) => {
    const [file = "", ...anchor] = target.split("#")
    const at = path.posix.join(directory, file)
    return `](${[`${pageOf(url)}/blob/HEAD/${at}`, ...anchor].join("#")})`
  })

/** Returns the files that a README's relative links refer to, relative to the repository root. */
export const linked = (text: string, directory: string): ReadonlyArray<string> =>
  [...text.matchAll(link)].map(([, target = ""]) => path.posix.join(directory, target.split("#")[0] ?? ""))

/** Completes the manifests and READMEs of the packages in `folders` while `use` runs. */
export const asPublished = <A>(root: string, folders: ReadonlyArray<string>, use: () => A): A => {
  const about = rootOf(root)
  const before = folders.flatMap((folder) =>
    ["package.json", "README.md"]
      .map((file) => ({ folder, file }))
      .filter(({ file }) => fs.existsSync(path.join(folder, file)))
      .map((one) => ({ ...one, text: read(one.folder, one.file) }))
  )
  try {
    for (const { file, folder, text } of before) {
      const directory = path.relative(root, folder).split(path.sep).join("/")
      const own =
        file === "README.md"
          ? withAddresses(text, about.repository.url, directory)
          : `${JSON.stringify({ ...JSON.parse(text), ...fieldsOf(about, directory) }, null, 2)}\n`
      fs.writeFileSync(path.join(folder, file), own)
    }
    return use()
  } finally {
    for (const { file, folder, text } of before) fs.writeFileSync(path.join(folder, file), text)
  }
}
