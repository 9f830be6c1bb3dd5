/** What every sandbox owes, whatever is in it: suites for each backend, with the walls that it claims. */
import fs from "node:fs"
import net from "node:net"
import os from "node:os"
import path from "node:path"
import { Sandbox } from "@divisi/graders"
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"

/** What is asked of a backend. */
export interface Subject {
  readonly sandbox: () => Sandbox.Sandbox
  /** Whether it keeps programs from the network, files and processes of the machine. */
  readonly hasWalls: boolean
  /** Whether a program may start processes of its own, inside. */
  readonly hasProcesses: boolean
}

const limits = { wallMillis: 10_000, memoryMegabytes: 300, outputBytes: 1_000_000 }

/** Programs that do what they should not, and which ends are right for them. */
const harm: ReadonlyArray<readonly [name: string, code: string, ends: RegExp]> = [
  ["an endless loop", "while True: pass", /timed-out/],
  [
    "an endless loop that catches all",
    "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    /timed-out/
  ],
  ["memory without end", "x = []\nwhile True: x.append('a' * 10_000_000)", /out-of-memory/],
  ["one large allocation", "x = bytearray(1_500_000_000)", /out-of-memory/],
  ["output without end", "while True: print('hello' * 100)", /output-too-large/],
  ["errors without end", "import sys\nwhile True: sys.stderr.write('hello' * 100)", /output-too-large/],
  [
    "files without end",
    "f = open('big', 'w')\nwhile True: f.write('a' * 1_000_000)",
    /finished 1|out-of-memory|crashed|timed-out/
  ],
  ["deep recursion", "def f(n): return f(n + 1)\nf(0)", /finished 1/],
  [
    "deep recursion in C",
    "import sys\nsys.setrecursionlimit(10 ** 9)\nimport functools\n@functools.cache\ndef f(n): return f(n + 1)\nf(0)",
    /finished 1|crashed|out-of-memory/
  ],
  ["deep nesting", "x = []\nfor _ in range(10 ** 6): x = [x]\nprint(len(repr(x)))", /finished 1|crashed|timed-out/],
  ["an exit that skips all", "import os\nos._exit(7)", /finished 7/],
  ["an exit by a signal", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", /crashed|finished 137/],
  ["an exit by an abort", "import os\nos.abort()", /crashed|finished 134/],
  [
    "signals that are ignored",
    "import signal\nfor one in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):\n  signal.signal(one, signal.SIG_IGN)\nwhile True: pass",
    /timed-out/
  ],
  [
    "a fork bomb",
    "import os\nwhile True:\n  try: os.fork()\n  except BlockingIOError: pass",
    /timed-out|finished 1|crashed/
  ],
  [
    "threads without end",
    "import threading, time\ndef f():\n  while True: time.sleep(1)\nwhile True: threading.Thread(target=f).start()",
    /timed-out|finished 1|out-of-memory|crashed/
  ],
  ["pointers into nothing", "import ctypes\nctypes.string_at(0)", /crashed|finished 1/],
  [
    "bytecode of its own",
    "def f(): pass\nf.__code__ = f.__code__.replace(co_code=b'\\xff' * 64)\nf()",
    /crashed|finished 1|timed-out/
  ],
  ["a broken stdout", "import sys, os\nos.close(1)\nsys.stdout = None\nprint('x')", /finished/],
  ["a number of a million digits", "print(9 ** 9 ** 9)", /timed-out|out-of-memory|finished 1|output-too-large|crashed/]
]

/** Changes that would last if anything were shared. */
const changes = [
  "import builtins\nbuiltins.print = lambda *a: None\nbuiltins.int = lambda x: 0\nbuiltins.input = lambda: '1'",
  "import sys, io\nsys.stdout = sys.__stdout__ = io.StringIO()\nsys.exit = lambda *a: None\nsys.modules['math'] = None",
  "import json, os\njson.loads = lambda *a: 1\nos.write = lambda *a: 0\nopen('left.txt', 'w').write('here')",
  "import sys\nsys.setrecursionlimit(40)\nsys.path.clear()\nsys.meta_path.clear()\nimport gc\nfor o in gc.get_objects():\n  if isinstance(o, dict) and 'int' in o:\n    try: o.pop('len', None)\n    except Exception: pass"
]

const innocent =
  "import json, math, os\nprint(int(input()) * 7, math.floor(2.5), json.loads('[1]'), os.path.exists('left.txt'))"

const endOf = (execution: Sandbox.Execution) =>
  execution.type === "finished" ? `finished ${execution.exitCode}` : execution.type

/** What a program is run with, and what is seen of it. */
const using = (sandbox: () => Sandbox.Sandbox) => {
  const run = (code: string, input = "", more: Partial<Sandbox.Limits> = {}) =>
    Effect.runPromise(Sandbox.run(sandbox(), { code, inputs: [input], limits: { ...limits, ...more } }))
  const printed = async (code: string, input = "") => {
    const execution = await run(code, input)
    return execution.type === "finished" ? execution.stdout : JSON.stringify(execution)
  }
  const isWell = async () => assert.strictEqual(await printed(innocent, "6\n"), "42 2 [1] False\n")
  return { run, printed, isWell }
}

/** Registers what every sandbox does for a program that means well. */
export const contract = (name: string, { sandbox }: Subject): void => {
  const { printed, run } = using(sandbox)

  describe(`${name} runs programs`, () => {
    it("on their input, in any of the ways to read it", async () => {
      const ways = [
        "print(input(), input())",
        "import sys\nprint(*sys.stdin.read().split())",
        "import sys\nprint(*(line.strip() for line in sys.stdin))",
        "import sys\nr = sys.stdin.buffer.readline\nprint(r().decode().strip(), r().decode().strip())",
        "print(*open(0).read().split())",
        "import os\nprint(*os.read(0, 100).decode().split())",
        "import os, io\nprint(*io.BytesIO(os.read(0, os.fstat(0).st_size)).read().decode().split())"
      ]
      for (const way of ways) assert.strictEqual(await printed(way, "a\nb\n"), "a b\n", way)
    })

    it("gives what they print and how they end", async () => {
      const execution = await run("import sys\nprint('ä', end='')\nprint('oh', file=sys.stderr)\nsys.exit(3)")
      assert.deepInclude(execution, { type: "finished", stdout: "ä", stderr: "oh\n", exitCode: 3 })
      const error = await run("def f():\n    return 1 / 0\nf()")
      assert.isTrue(error.type === "finished" && error.exitCode === 1)
      assert.include(Sandbox.describe(error), "ZeroDivisionError")
      const wrong = await run("def f(:\n")
      assert.include(Sandbox.describe(wrong), "SyntaxError")
    })

    it("one input after the other, until one is refused, each with a namespace of its own", async () => {
      const code =
        "try:\n  seen\nexcept NameError:\n  seen = 1\n  import builtins\n  builtins.len = lambda x: 9\nelse:\n  print('again')\nprint(int(input()), len('ab'))"
      const program = { code: code.replace("  builtins.len = lambda x: 9\n", ""), inputs: ["1", "2", "x", "4"] }
      const executions = await Effect.runPromise(sandbox().run(program))
      assert.deepStrictEqual(executions.map(endOf), ["finished 0", "finished 0", "finished 1"])
      assert.deepInclude(executions[1], { stdout: "2 2\n" })
      const some = await Effect.runPromise(sandbox().run({ code: "print(input())", inputs: ["1", "2"] }, () => false))
      assert.lengthOf(some, 1)
      const after = await Effect.runPromise(
        sandbox().run({ code: "import os\nprint(input(), flush=True)\nos._exit(0)", inputs: ["1", "2"] })
      )
      assert.deepStrictEqual(
        after.map((one) => one.type === "finished" && one.stdout),
        ["1\n", "2\n"]
      )
    })

    it("with a prelude and files", async () => {
      const execution = await Effect.runPromise(
        Sandbox.run(sandbox(), {
          prelude: "from math import *",
          code: "from __future__ import annotations\nprint(floor(2.5), open('a.txt').read())",
          files: { "a.txt": "file" }
        })
      )
      assert.deepInclude(execution, { stdout: "2 file\n" })
    })

    it("with the recursion that contests take for granted", async () => {
      const code =
        "import sys, functools\nsys.setrecursionlimit(50000)\n@functools.cache\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\ndef g(n): return 0 if n == 0 else 1 + g(n - 1)\nprint(f(9000), g(40000))"
      assert.strictEqual(await printed(code), "9000 40000\n")
    })
  })
}

/** A third of the harm, or all of it with `DIVISI_ATTACKS=all`. */
const tried = () => (process.env.DIVISI_ATTACKS === "all" ? harm : harm.filter((_, at) => at % 3 === 0))

/** Registers what no program does to a sandbox, nor through it. Each attempt takes an interpreter of its own. */
export const walls = (name: string, { hasProcesses, hasWalls, sandbox }: Subject): void => {
  const { isWell, run } = using(sandbox)

  describe(`${name} survives`, () => {
    for (const [what, code, ends] of tried()) {
      it(`${what}, and runs the next program right`, async () => {
        const isLong = ends.source.includes("timed-out")
        const end = endOf(await run(code, "", isLong ? { wallMillis: 1500 } : {}))
        assert.match(end, ends)
        await isWell()
      })
    }

    it("changes to the interpreter, which the next program does not see", async () => {
      for (const change of changes) {
        await run(change)
        await isWell()
      }
    })
  })

  describe.skipIf(!hasWalls)(`${name} lets nothing out`, () => {
    it("no file of the machine is read, written or listed", async () => {
      const folder = fs.mkdtempSync(path.join(os.homedir(), ".divisi-canary-"))
      try {
        const canary = path.join(folder, "canary")
        fs.writeFileSync(canary, "secret-canary")
        const quoted = JSON.stringify(canary)
        const attempts = [
          `print(open(${quoted}).read())`,
          `import os\nprint(os.listdir(${JSON.stringify(folder)}))`,
          `open(${JSON.stringify(`${folder}/made`)}, 'w').write('x')`,
          `import os\nos.symlink(${quoted}, 'link')\nprint(open('link').read())`,
          `import os\nos.remove(${quoted})`,
          "import os\nfor fd in range(3, 64):\n  try: print(os.read(fd, 100))\n  except OSError: pass",
          "import os\nprint(open('/proc/self/environ').read())",
          "import os\nprint(open(f'/proc/{os.getppid()}/environ').read())"
        ]
        process.env.DIVISI_CANARY = "secret-canary"
        for (const attempt of attempts) {
          const execution = await run(attempt, "", { wallMillis: 3000 })
          assert.notInclude(JSON.stringify(execution), "secret-canary", attempt)
        }
        assert.deepStrictEqual(fs.readdirSync(folder), ["canary"])
        assert.strictEqual(fs.readFileSync(canary, "utf8"), "secret-canary")
      } finally {
        delete process.env.DIVISI_CANARY
        fs.rmSync(folder, { recursive: true, force: true })
      }
    })

    it("no connection is made", async () => {
      let connections = 0
      const server = net.createServer((socket) => {
        connections++
        socket.end("secret")
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as net.AddressInfo
      const attempts = [
        `import socket\ns = socket.create_connection(('127.0.0.1', ${port}), timeout=2)\ns.sendall(b'x')\nprint(s.recv(9))`,
        `import urllib.request\nprint(urllib.request.urlopen('http://127.0.0.1:${port}', timeout=2).read())`,
        `import socket\ns = socket.socket()\ns.setblocking(False)\ntry: s.connect(('127.0.0.1', ${port}))\nexcept OSError: pass\nimport time\ntime.sleep(0.3)\nprint(s.send(b'x'))`,
        `import js\njs.fetch('http://127.0.0.1:${port}')`,
        `from pyodide.http import pyfetch, open_url\nopen_url('http://127.0.0.1:${port}')`
      ]
      for (const attempt of attempts) {
        const execution = await run(attempt)
        assert.isFalse(Sandbox.isClean(execution), attempt)
      }
      server.close()
      assert.strictEqual(connections, 0)
    })

    it("no process of the machine is started or reached", async () => {
      const mark = path.join(os.tmpdir(), `divisi-mark-${process.pid}`)
      const attempts = [
        `import os\nos.system('touch ${mark}')`,
        `import subprocess\nsubprocess.run(['touch', '${mark}'])`,
        `import os\nos.execv('/bin/touch', ['touch', '${mark}'])`,
        `import os\nos.posix_spawn('/bin/touch', ['touch', '${mark}'], {})`,
        `import os, signal\nos.kill(${process.pid}, signal.SIGTERM)`,
        "import os, signal\nos.killpg(0, signal.SIGKILL)",
        "import os, signal\nos.kill(-1, signal.SIGKILL)",
        "import multiprocessing\nmultiprocessing.Process(target=print).start()"
      ]
      for (const attempt of attempts) {
        const execution = await run(attempt, "", { wallMillis: 3000 })
        if (!hasProcesses) assert.isFalse(Sandbox.isClean(execution), attempt)
      }
      assert.isFalse(fs.existsSync(mark))
      await isWell()
    })
  })
}
