/** Validates the content of messages, which plain JavaScript may pass in any form. */

const isText = (value: unknown): value is string => typeof value === "string"

/** Number of characters to validate at either end. Validating all of a large image, or of thousands, takes too long. */
const checkedCharacters = 2 ** 9

/** Whether a string looks like base64. */
const isBase64 = (text: string): boolean =>
  text.length % 4 === 0 &&
  /^[A-Za-z0-9+/]+$/.test(text.slice(0, Math.min(checkedCharacters, text.length - 2))) &&
  /^[A-Za-z0-9+/]*={0,2}$/.test(text.slice(-checkedCharacters))

const mediaProblem = (what: "picture" | "file", part: object): string | undefined => {
  const { data, mediaType, url } = part as { readonly [Member in "data" | "mediaType" | "url"]?: unknown }
  if (data === undefined) {
    if (url === undefined) return `a ${what} needs a url, or data with a mediaType`
    return isText(url) && URL.canParse(url)
      ? undefined
      : `the url of a ${what} must be a URL such as https://example.com/a.png`
  }
  if (!isText(mediaType) || !/^[\w.+-]+\/[\w.+-]+/.test(mediaType))
    return `the data of a ${what} needs a mediaType such as image/png`
  if (what === "picture" && !mediaType.startsWith("image/")) return `${mediaType} is not an image type; use a file part`
  if (!isText(data) && !(data instanceof Uint8Array)) return `the data of a ${what} must be bytes or base64`
  if (data.length === 0) return `the data of a ${what} is empty`
  if (isText(data) && !isBase64(data)) return `the data of a ${what} is not valid base64`
  return undefined
}

const problemOfPart = (part: unknown): string | undefined => {
  if (typeof part !== "object" || part === null || !("type" in part))
    return "the type of a part must be text, image or file"
  if (part.type === "text") return "text" in part && isText(part.text) ? undefined : "a text part needs a text"
  if (part.type === "image") return mediaProblem("picture", part)
  return part.type === "file" ? mediaProblem("file", part) : "the type of a part must be text, image or file"
}

/** Returns a short error message if a value is not valid message content, or `undefined` if it is valid. */
export const problemOf = (content: unknown): string | undefined => {
  if (isText(content)) return undefined
  if (!Array.isArray(content) || content.length === 0) return "content must be a string or a list of parts"
  for (const part of content) {
    const problem = problemOfPart(part)
    if (problem !== undefined) return problem
  }
  return undefined
}
