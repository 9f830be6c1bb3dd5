/**
 * Finds the program in an answer. Candidates are its fenced blocks or, if there are none, the whole answer, its tags
 * and its JSON strings. A Python program then chooses among them.
 */

const fence = /^(\s*(?:>\s?)?)(?:[-*]\s+)?(```+|~~~+)\s*([\w+#.-]*)/

/** Whether a fence's language tag is compatible with Python. */
const isPython = (language: string): boolean =>
  /^(?:|i?py(?:thon)?(?:[23](?:\.\d+)?)?|pycon|code|solution)$/i.test(language)

/** Maximum number of blocks considered. Only the last ones count. */
const maxBlocks = 20

/** A fenced block, and whether it has a closing fence. */
export interface Block {
  readonly code: string
  readonly isClosed: boolean
}

/** Returns the code of a block. In a transcript of an interactive session, only the lines after a prompt are code. */
const withoutPrompts = (lines: ReadonlyArray<string>): string =>
  lines.some((line) => line.startsWith(">>> "))
    ? lines.flatMap((line) => /^(?:>>>|\.\.\.)(?: (.*))?$/.exec(line)?.slice(1) ?? []).join("\n")
    : lines.join("\n")

/** Returns the fenced blocks of an answer that may be Python. The last one may lack its closing fence. */
export const blocks = (answer: string): ReadonlyArray<Block> => {
  const found: Array<Block> = []
  let open:
    | { readonly margin: string; readonly mark: string; readonly language: string; readonly lines: Array<string> }
    | undefined
  const add = (isClosed: boolean) => {
    if (open !== undefined && isPython(open.language)) found.push({ code: withoutPrompts(open.lines), isClosed })
    open = undefined
  }
  for (const line of answer.split("\n")) {
    const match = fence.exec(line)
    if (open === undefined) {
      if (match !== null) open = { margin: match[1]!, mark: match[2]!, language: match[3]!, lines: [] }
    } else if (match !== null && match[3] === "" && match[2]!.startsWith(open.mark)) add(true)
    else open.lines.push(line.startsWith(open.margin) ? line.slice(open.margin.length) : line)
  }
  add(false)
  return found.filter(({ code }) => code.trim() !== "").slice(-maxBlocks)
}

const tagged = /<(code|pre|solution|program|python|answer|final_answer)(?:\s[^<>]{0,80})?>([\s\S]*?)<\/\1>/gi

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": " ",
  "&amp;": "&"
}

/** Returns the content of a tag, both verbatim and with HTML entities decoded. */
const contents = (content: string): ReadonlyArray<string> => {
  const html = content
    .replace(/<\/?(?:code|pre|span|br|div|p)(?:\s[^<>]{0,80})?\/?>/gi, "")
    .replace(/&(?:lt|gt|quot|#39|nbsp|amp);/g, (entity) => entities[entity]!)
  return html === content ? [content] : [content, html]
}

/** Maximum length of an answer that is parsed as JSON, in characters. */
const maxJson = 200_000

/** Returns the strings in an answer's JSON, up to three levels deep. */
const stringsIn = (answer: string): ReadonlyArray<string> => {
  const json = /[[{][\s\S]*[\]}]/.exec(answer.slice(0, maxJson))?.[0]
  const walk = (value: unknown, levels: number): ReadonlyArray<string> => {
    if (typeof value === "string") return [value]
    if (typeof value !== "object" || value === null || levels === 0) return []
    return Object.values(value).flatMap((one) => walk(one, levels - 1))
  }
  try {
    return json === undefined ? [] : walk(JSON.parse(json), 3)
  } catch {
    return []
  }
}

/**
 * Returns the texts of an answer that may be its program, in order. The last one may contain prose around the program.
 */
export const candidates = (answer: string): ReadonlyArray<string> => {
  const fenced = blocks(answer)
  if (fenced.length > 0) return fenced.map(({ code }) => code)
  const strings = stringsIn(answer).flatMap((text) => {
    const inner = blocks(text)
    return inner.length === 0 ? [text] : inner.map(({ code }) => code)
  })
  const tags = [...answer.matchAll(tagged)].flatMap(([, , content = ""]) => contents(content))
  return [...[...strings, ...tags].filter((text) => text.trim() !== "").slice(-maxBlocks), answer]
}

/**
 * Python source that prints the chosen program as JSON. It chooses the last text that parses and defines the requested
 * function (or, without one, reads its input); otherwise the last text that parses and does more than assign values;
 * otherwise the longest such part of the last text. Prints null if there is no program. None of the texts are executed.
 */
export const chooser = `
import ast, json, time

order = json.loads(__order__)

def tree(text):
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None

def names(parsed):
    return {one.name for one in ast.walk(parsed) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}

def reads(parsed):
    used = {one.id for one in ast.walk(parsed) if isinstance(one, ast.Name)} | {
        one.attr for one in ast.walk(parsed) if isinstance(one, ast.Attribute)
    }
    return bool(used & {"input", "stdin", "open", "fileinput"})

def acts(parsed):
    return any(isinstance(one, (ast.Call, ast.FunctionDef, ast.ClassDef)) for one in ast.walk(parsed))

def fits(parsed):
    name = order.get("function")
    return acts(parsed) and (name in names(parsed) if name else reads(parsed))

def part(text):
    # The longest run of lines that is a program. The number of lines and the time for it are bounded.
    lines, best, ends = text.split("\\n")[:400], None, time.monotonic() + 5
    for start in range(len(lines)):
        if not lines[start].strip():
            continue
        for end in range(len(lines), start + (len(best.split("\\n")) if best else 0), -1):
            if time.monotonic() > ends:
                return best
            piece = "\\n".join(lines[start:end])
            parsed = tree(piece)
            if parsed is not None:
                if fits(parsed):
                    best = piece
                break
    return best

trees = [tree(text) for text in order["texts"]]
parsed = [at for at, one in enumerate(trees) if one is not None and acts(one)]
meant = [at for at in parsed if fits(trees[at])]
chosen = [order["texts"][at] for at in meant or parsed][-1:] or [part(order["texts"][-1])]
print(json.dumps(chosen[0]))
`
