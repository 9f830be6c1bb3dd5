/** Finds the program in an answer: its fenced blocks, or all of it, and which of them to run. */

const fence = /^(\s*(?:>\s?)?)(?:[-*]\s+)?(```+|~~~+)\s*([\w+#.-]*)/

/** Languages of a fence whose block may be Python. */
const isPython = (language: string): boolean => /^(?:|py|python|python[23]|py3|code|solution)$/i.test(language)

/** More blocks than this are not looked at: the last ones count. */
const maxBlocks = 20

/** A block of an answer, and whether a closing fence ends it. */
export interface Block {
  readonly code: string
  readonly isClosed: boolean
}

/** The fenced blocks of an answer that may be Python; the last one may lack its closing fence. */
export const blocks = (answer: string): ReadonlyArray<Block> => {
  const found: Array<Block> = []
  let open:
    | { readonly margin: string; readonly mark: string; readonly language: string; readonly lines: Array<string> }
    | undefined
  const add = (isClosed: boolean) => {
    if (open !== undefined && isPython(open.language)) found.push({ code: open.lines.join("\n"), isClosed })
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

/**
 * Python that prints which of some texts is the program: the last one that parses and defines the function that is asked
 * for, or reads its input where none is; else the last one that parses and does more than to name values; -1 for none.
 * Nothing of the texts is run.
 */
export const chooser = `
import ast, json

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

trees = [tree(text) for text in order["texts"]]
parsed = [at for at, one in enumerate(trees) if one is not None and acts(one)]
name = order.get("function")
meant = [at for at in parsed if (name in names(trees[at]) if name else reads(trees[at]))]
print((meant or parsed or [-1])[-1])
`
