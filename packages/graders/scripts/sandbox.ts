/**
 * Measures the sandbox of WebAssembly and prints JSON: how long a program takes to start with the warm pool, from the
 * snapshot without a spare process, and with a whole start of Pyodide for each; samples a second with one and two
 * processes; and how much slower it computes than `python3`:
 * `node --conditions=@divisi/source scripts/sandbox.ts 40`.
 */
import { execFileSync } from "node:child_process"
import os from "node:os"
import * as Task from "@divisi/core/Task"
import { Sandbox } from "@divisi/graders"
import { CodeGrader } from "@divisi/graders/code"
import { PyodideSandbox } from "@divisi/graders/sandboxes"
import * as Effect from "effect/Effect"

const samples = Number(process.argv[2] ?? 40)
const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const round = (value: number) => Math.round(value * 10) / 10

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const started = performance.now()
    return Effect.map(effect, () => performance.now() - started)
  })

const pause = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 2000)))

/** A sample of LiveCodeBench: twenty tests on standard input. */
const tests = Array.from({ length: 20 }, (_, at) => ({
  input: `${at + 3}\n${Array.from({ length: at + 3 }, (_, index) => (index * 7) % 11).join(" ")}\n`,
  output: String(Array.from({ length: at + 3 }, (_, index) => (index * 7) % 11).reduce((a, b) => a + b, 0)),
  testtype: "stdin"
}))
const task = Task.make({ question: "Sum.", reference: JSON.stringify({ public_test_cases: tests }) })
const answer = "```python\nn = int(input())\nprint(sum(map(int, input().split())))\n```"

const grade = (processes: number) =>
  Effect.gen(function* () {
    const sandbox = yield* PyodideSandbox.make({ processes })
    const grader = CodeGrader.liveCodeBench(sandbox)
    yield* grader.grade(task, answer)
    const many = Effect.forEach(Array.from({ length: samples }), () => grader.grade(task, answer), {
      concurrency: processes
    })
    const millis = yield* timed(many)
    return round((samples / millis) * 1000)
  }).pipe(Effect.scoped)

const hello = { code: "print(1)" }

const starts = Effect.gen(function* () {
  const sandbox = yield* PyodideSandbox.make()
  yield* Sandbox.run(sandbox, hello)
  const warm: Array<number> = []
  for (let at = 0; at < 8; at++) {
    // As when samples come slower than they are graded: the spare process is ready.
    yield* pause
    warm.push(yield* timed(Sandbox.run(sandbox, hello)))
  }
  const busy: Array<number> = []
  for (let at = 0; at < 20; at++) busy.push(yield* timed(Sandbox.run(sandbox, hello)))
  return { warm: round(median(warm)), oneAfterTheOther: round(median(busy)) }
}).pipe(Effect.scoped)

/** A whole start for each program: Pyodide from its files, and everything that programs import. */
const cold = Effect.gen(function* () {
  const times: Array<number> = []
  for (let at = 0; at < 5; at++) times.push(yield* timed(Effect.scoped(PyodideSandbox.make())))
  return round(median(times))
})

const loops = `
import time
started = time.perf_counter()
s = 0
for i in range(2_000_000): s += i * i % 7
a = time.perf_counter()
d = {}
for i in range(300_000): d[str(i)] = i
x = sorted(d, key=lambda k: -d[k])
b = time.perf_counter()
grid = [[0] * 300 for _ in range(300)]
for i in range(300):
    for j in range(300):
        grid[i][j] = (grid[i - 1][j] + grid[i][j - 1] + 1) % 1000007
c = time.perf_counter()
print(a - started, b - a, c - b)
`

const slowdown = Effect.gen(function* () {
  const sandbox = yield* PyodideSandbox.make()
  const execution = yield* Sandbox.run(sandbox, { code: loops, limits: { wallMillis: 60_000 } })
  const inside = execution.type === "finished" ? execution.stdout.trim().split(" ").map(Number) : []
  const outside = execFileSync("python3", ["-c", loops], { encoding: "utf8" }).trim().split(" ").map(Number)
  return inside.map((seconds, at) => round(seconds / (outside[at] ?? Number.NaN)))
}).pipe(Effect.scoped)

const measured = await Effect.runPromise(
  Effect.gen(function* () {
    return {
      samples,
      testsOfEach: tests.length,
      load: os.loadavg().map(round),
      startMillis: { ...(yield* starts), wholeStart: yield* cold },
      samplesPerSecond: { oneProcess: yield* grade(1), twoProcesses: yield* grade(2) },
      slowdown: yield* slowdown
    }
  })
)
process.stdout.write(`${JSON.stringify(measured)}\n`)
