/**
 * Finds the program in an answer. Candidates are its fenced blocks or, if there are none, its tags and its JSON
 * strings, and the whole answer. A Python program then chooses among them.
 */
import { withoutTokens } from "../internal/spoken.ts"

const fence = /^(\s*(?:>\s?)?)(?:[-*]\s+)?(```+|~~~+)\s*([\w+#.-]*)/

/** Whether a fence's language tag is compatible with Python. */
const isPython = (language: string): boolean =>
  /^(?:|i?py(?:thon)?(?:[23](?:\.\d+)?)?|pycon|code|solution|diff|patch)$/i.test(language)

/** Maximum number of blocks considered. Only the last ones count. */
const maxBlocks = 20

/** A fenced block. */
export interface Block {
  readonly code: string
  /** Whether it has a closing fence. */
  readonly isClosed: boolean
  /** Whether its fence has a language tag. */
  readonly isTagged: boolean
}

/** Prompts of interactive sessions: `>>> x`, `... x`, `In [1]: x` and `   ...: x`. */
const prompt = /^(?:>>>|\.\.\.|In \[\d+\]:|\s+\.\.\.:)(?: (.*))?$/

/** Start of a session, or of a program, which may contain the example of a session in a docstring. */
const sessionOrProgram = /^(?:(>>> |In \[\d+\]: )|(?:def|class|import|from|async|@|[ru]?"""|[ru]?'''))/m

/** Returns the code of a block. In a transcript of an interactive session, only the lines after a prompt are code. */
const withoutPrompts = (lines: ReadonlyArray<string>): string => {
  const code = lines.join("\n")
  return sessionOrProgram.exec(code)?.[1] === undefined
    ? code
    : lines.flatMap((line) => prompt.exec(line)?.slice(1) ?? []).join("\n")
}

/** Returns the lines that a diff adds or leaves. */
const patched = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.flatMap((line) => (/^(?:[+ ](?!\+\+ ))/.test(line) ? [line.slice(1)] : line === "" ? [line] : []))

/** Returns the fenced blocks of an answer that may be Python. The last one may lack its closing fence. */
export const blocks = (answer: string): ReadonlyArray<Block> => {
  const found: Array<Block> = []
  let open:
    | { readonly margin: string; readonly mark: string; readonly language: string; readonly lines: Array<string> }
    | undefined
  const add = (isClosed: boolean) => {
    if (open !== undefined && isPython(open.language)) {
      const lines = /^(?:diff|patch)$/i.test(open.language) ? patched(open.lines) : open.lines
      const code = withoutPrompts(lines)
      // A fence may contain another one.
      const inner = /^\s*(?:```|~~~)/.test(code) ? blocks(code) : []
      found.push(...(inner.length > 0 ? inner : [{ code, isClosed, isTagged: open.language !== "" }]))
    }
    open = undefined
  }
  for (const line of answer.split("\n")) {
    const [, margin = "", mark = "", language = ""] = fence.exec(line) ?? []
    // A fence with a language also ends a block that was not closed. A fence in an indented docstring ends none.
    const isNext = language !== "" && mark === open?.mark && margin === open.margin
    const isEnd = language === "" && mark.startsWith(open?.mark ?? " ") && margin.length < open!.margin.length + 4
    if (isEnd) add(true)
    else if (mark !== "" && (open === undefined || isNext)) {
      add(false)
      open = { margin, mark, language, lines: [] }
    } else open?.lines.push(line.startsWith(open.margin) ? line.slice(open.margin.length) : line)
  }
  add(false)
  return found.filter(({ code }) => code.trim() !== "").slice(-maxBlocks)
}

const tagged =
  /<(code|pre|solution|program|python|answer|final_answer)(?:\s[^<>]{0,80})?>([\s\S]*?)<\/\1>|\[(code|python|answer)\]([\s\S]*?)\[\/\3\]/gi

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

/** Returns the strings in an answer's JSON, up to five levels deep. The lines of a notebook's cell are one string. */
const stringsIn = (answer: string): ReadonlyArray<string> => {
  const json = /[[{][\s\S]*[\]}]/.exec(answer.slice(0, maxJson))?.[0]
  const walk = (value: unknown, levels: number): ReadonlyArray<string> => {
    if (typeof value === "string") return [value]
    if (Array.isArray(value) && value.length > 1 && value.slice(0, -1).every((line) => /\n$/.test(String(line))))
      return [value.join("")]
    if (typeof value !== "object" || value === null || levels === 0) return []
    return Object.values(value).flatMap((one) => walk(one, levels - 1))
  }
  try {
    return json === undefined ? [] : walk(JSON.parse(json), 5)
  } catch {
    return []
  }
}

const tick = "```"

/** Other ways to mark a file or a block of code, and the fenced block that each one is. */
const wrappers: ReadonlyArray<readonly [guard: RegExp, pattern: RegExp, replacement: string]> = [
  // The replacement of a conflict: SEARCH, REPLACE.
  [
    /<<<<</,
    /^[ \t]*<{5,}[^\n]*\n[\s\S]*?^[ \t]*={5,}[ \t]*\n([\s\S]*?)^[ \t]*>{5,}[^\n]*$/gm,
    `${tick}python\n$1${tick}`
  ],
  // A file in a shell's input: cat > solution.py <<'EOF'
  [
    /<</,
    /^[^\n]*\b(?:cat|tee|python3?)\b[^\n]*<<-?[ \t]*(["']?)(\w+)\1[^\n]*\n([\s\S]*?)\n[ \t]*\2[ \t]*$/gm,
    `${tick}python\n$3\n${tick}`
  ],
  [/\*\*\* Begin Patch/, /^\*\*\* Begin Patch\n([\s\S]*?)^\*\*\* End Patch$/gm, `${tick}diff\n$1${tick}`],
  [/^%%/m, /^%%\w+[^\n]*\n/gm, ""],
  [
    /\\begin\{(?:lstlisting|verbatim|minted|python)\}/,
    /\\begin\{(lstlisting|verbatim|minted|python)\}(?:\[[^\]\n]*\]|\{\w+\})*[ \t]*\n([\s\S]*?)\n[ \t]*\\end\{\1\}/g,
    `${tick}python\n$2\n${tick}`
  ],
  [
    /#\+begin_src/i,
    /^[ \t]*#\+begin_src[ \t]+python[^\n]*\n([\s\S]*?)\n[ \t]*#\+end_src[ \t]*$/gim,
    `${tick}python\n$1\n${tick}`
  ],
  [/\{code/, /\{code(?::python)?\}[ \t]*\n([\s\S]*?)\n[ \t]*\{code\}/g, `${tick}python\n$1\n${tick}`]
]

const unwrapped = (answer: string): string =>
  wrappers.reduce(
    (text, [guard, pattern, replacement]) => (guard.test(text) ? text.replace(pattern, replacement) : text),
    answer
  )

/** Returns the texts of an answer that may be its program, in order. The last one is the answer itself. */
export const candidates = (written: string): ReadonlyArray<string> => {
  const answer = unwrapped(withoutTokens(written).replace(/^\s*python3?\n/i, ""))
  const fenced = blocks(answer)
  // Python reads "~~~" as an operator.
  if (fenced.length > 0) return [...fenced.map(({ code }) => code), answer.replace(/^(\s*)~~~/gm, "$1```")]
  const strings = stringsIn(answer).flatMap((text) => {
    const inner = blocks(text)
    return inner.length === 0 ? [text] : inner.map(({ code }) => code)
  })
  const tags = [...answer.matchAll(tagged)].flatMap(([, , html, , content = ""]) => contents(html ?? content))
  return [
    ...[...strings, ...tags].filter((text) => text.trim() !== "").slice(-maxBlocks),
    withoutPrompts(answer.split("\n"))
  ]
}

/**
 * Python source that defines `choose(texts, name)`, which returns a program or `None`: the last text that parses and
 * defines the requested function (or, without one, reads its input); otherwise the longest such part of a text, the
 * last text first; otherwise the last text that parses and does more than assign values. Texts may be indented. None of
 * them are executed.
 */
export const choosing = `
def choose(texts, name):
    import ast, textwrap, time

    def read(text):
        # The text, without the indentation that it has as a whole if that keeps it from parsing, and its tree.
        for one in (text, textwrap.dedent(text)) if text[:1].isspace() else (text,):
            try:
                return one, ast.parse(one)
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                pass
        return text, None

    def names(parsed):
        functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        assigned = [target for one in parsed.body if isinstance(one, ast.Assign) for target in one.targets]
        return {one.name for one in ast.walk(parsed) if isinstance(one, functions)} | {
            one.id for one in assigned if isinstance(one, ast.Name)
        }

    def reads(parsed):
        used = {one.id for one in ast.walk(parsed) if isinstance(one, ast.Name)} | {
            one.attr for one in ast.walk(parsed) if isinstance(one, ast.Attribute)
        }
        return bool(used & {"input", "stdin", "open", "fileinput"})

    def acts(parsed):
        return any(isinstance(one, (ast.Call, ast.FunctionDef, ast.ClassDef)) for one in ast.walk(parsed))

    def fits(parsed):
        return parsed is not None and (name in names(parsed) if name else acts(parsed) and reads(parsed))

    ends = time.monotonic() + 5

    def part(text):
        # The longest run of lines that is a program. The number of lines and the time for it are bounded.
        lines, best = text.split("\\n")[:400], None
        for start in range(len(lines)):
            if not lines[start].strip():
                continue
            for end in range(len(lines), start + (len(best.split("\\n")) if best else 0), -1):
                if time.monotonic() > ends:
                    return best
                piece, parsed = read("\\n".join(lines[start:end]))
                if parsed is not None:
                    if fits(parsed):
                        best = piece
                    break
        return best

    programs = [read(text) for text in reversed(texts)]
    for text, parsed in programs:
        if fits(parsed):
            return text
    for text, _ in programs:
        found = part(text)
        if found is not None:
            return found
    return next((text for text, parsed in programs if parsed is not None and acts(parsed)), None)
`

/** Python source that prints the program chosen from `__order__` as JSON, or null. */
export const chooser = `${choosing}
import json

order = json.loads(__order__)
print(json.dumps(choose(order["texts"], order.get("function"))))
`
