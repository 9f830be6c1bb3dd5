/**
 * Calls a function of a solution and compares its result with the expected value, by LiveCodeBench's rules.
 *
 * The comparison happens outside the sandbox, on plain data, and expected values never enter the sandbox. A program can
 * therefore neither look them up nor return an object that claims to equal everything.
 */
import { encoder, isSame, type PythonValue, parse } from "./PythonValue.ts"

/** The driver program. It reads the solution from the working folder and the call from its input. */
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

/**
 * Parses the result that the driver wrote after its marker. Returns `undefined` if it is missing or not a valid value.
 */
export const resultIn = (stdout: string, marker: string): PythonValue | undefined => {
  const at = stdout.lastIndexOf(marker)
  return at < 0 ? undefined : parse(stdout.slice(at + marker.length).split("\n", 1)[0]!)
}

/** Whether a result equals the expected value. A top-level tuple counts as a list. */
export const isExpected = (result: PythonValue, expected: PythonValue): boolean =>
  isSame(Array.isArray(result) && result[0] === "t" ? ["l", result[1] as ReadonlyArray<PythonValue>] : result, expected)
