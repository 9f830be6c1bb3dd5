/**
 * Calls a function of a solution and compares what it gives with what it should, by LiveCodeBench's rules.
 *
 * The comparison is made here, on plain data: what is expected never enters the sandbox. So a program can neither look
 * it up nor return an object that claims to equal everything.
 */
import { encoder, isSame, type PythonValue, parse } from "./PythonValue.ts"

/** The program: reads the solution from its folder and what to do from its input. */
export const driver = `${encoder}
def drive():
    import json, os, sys, types
    dumps, write, encode = json.dumps, os.write, make_encode()
    order = json.loads(sys.stdin.read())
    marker = order["marker"]
    arguments = [json.loads(line) for line in order["input"].split("\\n")]
    with open("solution.py", encoding="utf-8") as file:
        code = file.read()
    module = types.ModuleType("solution")
    exec(compile(order["prelude"], "prelude.py", "exec"), vars(module))
    exec(compile(code, "solution.py", "exec", dont_inherit=True), vars(module))
    target = module.Solution() if "class Solution" in code else module
    result = encode(getattr(target, order["function"])(*arguments))
    try:
        sys.stdout.flush()
    except Exception:
        pass
    text = ("\\n" + marker + dumps(result) + "\\n").encode()
    while text:
        text = text[write(1, text):]

drive()
`

/** What the driver wrote behind its marker; `undefined` when there is nothing, or something else than a value. */
export const resultIn = (stdout: string, marker: string): PythonValue | undefined => {
  const at = stdout.lastIndexOf(marker)
  return at < 0 ? undefined : parse(stdout.slice(at + marker.length).split("\n", 1)[0]!)
}

/** Whether a result is the expected one; a tuple counts as a list when it is the whole result. */
export const isExpected = (result: PythonValue, expected: PythonValue): boolean =>
  isSame(Array.isArray(result) && result[0] === "t" ? ["l", result[1] as ReadonlyArray<PythonValue>] : result, expected)
