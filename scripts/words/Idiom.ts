/** Idioms that this project avoids, with replacements. */

export interface Fault {
  readonly kind: "idiom" | "relative" | "long"
  readonly found: string
  /** Suggested replacement. */
  readonly instead: string
}

const idioms: ReadonlyArray<readonly [pattern: RegExp, instead: string]> = [
  [/\btold\b(?!\s+apart)/i, "reported, shown, notified"],
  [/\btells?\s+(?:of|what|who|whether|how|which|when|where|why|that)\b/i, "reports, shows"],
  [/\b(?:hears?|heard)\b/i, "receives, is notified"],
  [/\b(?:is|are|was|were|be|been)\s+said\b|\bsays?\s+(?:of|so)\b/i, "is reported, is shown"],
  [/\bkept\b(?!\s+(?:open|alive|apart|small|short))/i, "stored, retained"],
  [/\b(?:go|goes|going|went|gone)\s+on\b/i, "continues, resumes"],
  [/\b(?:let|lets|letting)\s+go\b/i, "evicts, releases, frees"],
  [/\banew\b|\b(?:come|comes|came)\s+again\b/i, "again; reconnects, retries, restarts"],
  [/\bmend(?:s|ed|ing)?\b/i, "fixes"],
  [/\bas[- ]made\b/i, "charged"],
  [/\b(?:is|are|was|were)\s+away\b/i, "is unreachable"],
  [/\bstands?\b(?!-|\s+(?:for|in\s+for|out|by|alone|still|up)\b)/i, "is"],
  [/\b(?:lies|lie|lay)\s+(?:in|on|at|beside|there|behind|between|within|below|above)\b/i, "is"],
  [/\bbeside\b/i, "alongside, next to, compared with"],
  [/\bin\s+(?:the|its|their)\s+places?\b(?:\s+of\b)?/i, "instead of"],
  [/\breckon(?:s|ed|ing)?\b/i, "estimates, calculates"],
  [/\bby\s+lot\b/i, "at random, sampled"],
  [/\bfor\s+good\b/i, "permanently"],
  [/\bsigns?\s+of\s+life\b/i, "keep-alive"],
  [/\bheed(?:s|ed|ing)?\b/i, "respects, ignores"],
  [/\bwho(?:ever)?\s+asks?\b/i, "the caller, the client"],
  [/\b(?:what|runs?\s+that)\s+waits?\b/i, "pending; a suspended run"],
  [/\bplaces?\s+in\s+(?:the\s+)?line\b/i, "queue position"],
  [/\bpaces?\b/i, "rate limit"],
  [/\bin\s+doubt\b|\bthe\s+doubts?\b/i, "unconfirmed"],
  [/\bcareless(?:ly|ness)?\b/i, "error-prone"],
  [/\b(?:nobody|somebody|anybody|everybody|whoever|whomever)\b/i, "no worker, a client, the caller, all"],
  [/\bstrangers?\b/i, "unknown, third-party"],
  [/\bof\s+others\b/i, "third-party"],
  [
    /(?<!\bthere\s)\b(?:is|are|was|were)\s+no\s+(?!longer\b|more\b|fewer\b|less\b|greater\b|larger\b|smaller\b|different\b)\w/i,
    "is not a"
  ],
  [/\b(?:is|are|was|were|has|have)\s+none\b/i, "is not one, has no"],
  [/\bby\s+day\s+and\s+by\s+night\b/i, "with a light and a dark theme"],
  [/\b(?:had|got)\s+again\b/i, "restored, fetched again"],
  [/\bone\s+behind\s+the\s+other\b/i, "consecutive"],
  [/\bwants?\s+back\b/i, "expects back"],
  [/\bwhole\s+or\s+not\s+at\s+all\b/i, "atomically, completely or not at all"],
  [/\bneed\s+not\s+be\s+there\b/i, "may not exist"]
]

const relative = /^(?:What|Who|Whom|Whose|Whoever|Whatever|Where|Wherever)\b(?!.*\?$)/

/** Maximum number of words in a sentence of a guide. */
const longest = 35

const wordsIn = (sentence: string): number => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length

/**
 * Returns the faults of a sentence. Headings and names may begin with a relative, and length is checked only in guides.
 */
export const faultsOf = (
  sentence: string,
  options: { readonly isHeading: boolean; readonly isGuide: boolean }
): ReadonlyArray<Fault> => {
  const faults = idioms.flatMap(([pattern, instead]): ReadonlyArray<Fault> => {
    const found = pattern.exec(sentence)?.[0]
    return found === undefined ? [] : [{ kind: "idiom", found, instead }]
  })
  const begins = options.isHeading ? null : relative.exec(sentence)
  if (begins !== null) {
    faults.push({ kind: "relative", found: begins[0], instead: "a noun as the subject; a condition begins with If" })
  }
  const words = wordsIn(sentence)
  if (options.isGuide && words > longest) {
    faults.push({ kind: "long", found: `${words} words`, instead: `at most ${longest} words` })
  }
  return faults
}
