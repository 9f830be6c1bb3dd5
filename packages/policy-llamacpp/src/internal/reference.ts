/** Parses references to models. */
import path from "node:path"
import { Hub } from "@divisi/files"
import * as KnownModels from "../knownModels.ts"
import * as Errors from "../LlamaCppError.ts"

/** A local file, or a remote file that is stored under `folder/place`. */
export type Reference =
  | { readonly type: "file"; readonly path: string }
  | {
      readonly type: "download"
      readonly url: string
      readonly place: string
      /** Whether the Hugging Face token may be sent to the server. */
      readonly isHuggingFace: boolean
    }

const wrong = (text: string, detail: string) => Errors.make(text, { _tag: "Reference", detail })

const hasOddSegment = (file: string): boolean =>
  file
    .split("/")
    .some((segment) => segment === "" || segment === "." || segment === ".." || /[\\:*?"<>|\p{Cc}]/u.test(segment))

const huggingFace = (text: string, endpoint: string): Reference => {
  const [reference = "", revision = "main"] = text.slice("hf:".length).split("#")
  const [owner, repository, ...file] = reference.split("/")
  if (!owner || !repository || file.length === 0) throw wrong(text, "does not name a file in a repository")
  if (hasOddSegment(`${reference}/${revision}`)) throw wrong(text, "has an empty or invalid part")
  if (!reference.endsWith(".gguf")) throw wrong(text, "is not a .gguf file")
  const place = path.join(owner, repository, ...(revision === "main" ? [] : [`@${revision}`]), ...file)
  return {
    type: "download",
    url: Hub.url({ kind: "model", repository: `${owner}/${repository}`, revision, file: file.join("/") }, endpoint),
    place,
    isHuggingFace: true
  }
}

/** Decodes the path of a URL; returns `undefined` if its escapes are invalid. */
const decoded = (pathname: string): string | undefined => {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return undefined
  }
}

const address = (text: string): Reference => {
  if (!URL.canParse(text)) throw wrong(text, "is not a valid URL")
  const url = new URL(text)
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)
  if (url.protocol !== "https:" && !isLoopback)
    throw wrong(text, "uses http, but models can be downloaded only over https")
  const file = decoded(url.pathname)?.slice(1)
  if (file === undefined) throw wrong(text, "has a path that is not valid UTF-8")
  if (!file.endsWith(".gguf") || hasOddSegment(file)) throw wrong(text, "is not a .gguf file")
  return {
    type: "download",
    url: url.href,
    place: path.join(url.host.replaceAll(/[^\w.-]/g, "_"), ...file.split("/")),
    isHuggingFace: false
  }
}

/** Parses a source, using the given hub URL. Throws a `LlamaCppError` if the source is invalid. */
export const parse = (text: string, endpoint: string): Reference => {
  const source = KnownModels.find(text)?.source ?? text
  if (source.startsWith("hf:")) return huggingFace(source, endpoint)
  if (/^https?:\/\//.test(source)) return address(source)
  if (/\.gguf$/i.test(source) || /[/\\]/.test(source)) return { type: "file", path: path.resolve(source) }
  throw wrong(text, "is not a known model")
}

const part = /-(\d{5})-of-(\d{5})\.gguf$/

/** Returns the paths of all parts of a split model, given the first one. */
export const parts = (file: string): ReadonlyArray<string> => {
  const match = part.exec(file)
  if (match === null) return [file]
  return Array.from({ length: Number(match[2]) }, (_, index) =>
    file.replace(part, `-${String(index + 1).padStart(5, "0")}-of-${match[2]}.gguf`)
  )
}
