/**
 * What a package says of itself once it is published: where its source is (npm's provenance compares that with where it
 * was built), its page, where mistakes are told, and whose it is. In the workspace the root's manifest alone says so.
 * Links of its README lead to the repository, for what they name beside the package is not in it.
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

/** The page of a repository: `https://host/owner/name` of `git+https://host/owner/name.git`. */
const pageOf = (url: string): string => url.replace(/^git\+/, "").replace(/\.git$/, "")

/** The fields of a package that stands in this directory of the repository. */
const fieldsOf = ({ author, repository: { type, url } }: Root, directory: string) => ({
  homepage: `${pageOf(url)}/tree/HEAD/${directory}#readme`,
  bugs: { url: `${pageOf(url)}/issues` },
  repository: { type, url, directory },
  author
})

/** A link of Markdown, `](target)`, that is relative: no address, no place of the page itself. */
const link = /\]\((?![a-z][a-z0-9+.-]*:|#|\/)([^)\s]+)\)/gi

/** A README whose relative links are addresses in the repository. */
export const withAddresses = (text: string, url: string, directory: string): string =>
  text.replace(link, (_, target: string) => {
    const [file = "", ...anchor] = target.split("#")
    const at = path.posix.join(directory, file)
    return `](${[`${pageOf(url)}/blob/HEAD/${at}`, ...anchor].join("#")})`
  })

/** The files that a README's relative links name, from the root of the repository. */
export const linked = (text: string, directory: string): ReadonlyArray<string> =>
  [...text.matchAll(link)].map(([, target = ""]) => path.posix.join(directory, target.split("#")[0] ?? ""))

/** While `use` runs, the packages in `folders` say of themselves what they say once they are published. */
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
