/**
 * Normalizes the names of called tools. Models and servers may add a namespace from the prompt, the number of the call,
 * or a token from the chat template.
 */

/** A pattern for text around a tool name. */
interface Row {
  readonly pattern: RegExp
  readonly source: string
}

const rows: ReadonlyArray<Row> = [
  { pattern: /<\|.*$/s, source: "gpt-oss: tokens of its template, vllm-project/vllm#32587" },
  { pattern: /:\d{1,4}$/, source: "Kimi: the number of the call, as in its ids, vllm-project/vllm#46344" },
  {
    pattern: /^(?:print\()?(?:default_api|functions?|tools?|multi_tool_use)[.:/]/,
    source: "the namespace of the prompt: default_api, tya5/reyn#1989; functions, tontinton/maki#505"
  }
]

/** Normalizes a name for comparison: vendors replace unsupported characters, and models change the case. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, "_")
    .replaceAll(/^_|_$/g, "")

const onlyOf = (offered: ReadonlySet<string>, isMeant: (name: string) => boolean): string | undefined => {
  const meant = [...offered].filter((name) => isMeant(plain(name)))
  return meant.length === 1 ? meant[0] : undefined
}

/** Returns the only offered tool whose normalized name equals the given one or is a suffix of it (simonw/llm#1552). */
const alike = (name: string, offered: ReadonlySet<string>): string | undefined => {
  const bare = plain(name)
  if (bare === "") return undefined
  return onlyOf(offered, (one) => one === bare) ?? onlyOf(offered, (one) => one.endsWith(`_${bare}`))
}

/** Maximum length of a name that is compared. */
const longest = 256

/** Returns the offered tool that a name refers to, or the name unchanged if there is no match. */
export const offeredName = (name: string, offered: ReadonlySet<string>): string => {
  if (offered.has(name) || name.length > longest) return name
  let bare = name.trim()
  for (const { pattern } of rows) {
    if (offered.has(bare)) return bare
    bare = bare.replace(pattern, "")
  }
  return offered.has(bare) ? bare : (alike(bare, offered) ?? name)
}

/**
 * Returns a name that starts with a letter or `_`, as Google requires; Google rejects the whole request otherwise
 * (diegosouzapw/OmniRoute#13738). {@link offeredName} is the inverse.
 */
export const withLetter = (name: string): string => (/^[A-Za-z_]/.test(name) ? name : `_${name}`)
