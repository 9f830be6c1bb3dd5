import { spawn } from "node:child_process"
import fs from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import path from "node:path"
import { OpenAiChat, Script, WireServer } from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Found from "../src/init/Found.ts"
import * as Init from "../src/init/Init.ts"
import * as Project from "../src/init/Project.ts"
import * as Team from "../src/init/Team.ts"
import * as Clone from "../src/invocation/Clone.ts"
import { divisi, inFolder } from "./process.ts"

/** A folder in which the packages of this workspace are found. */
const inPackage = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = fs.mkdtempSync(path.join(import.meta.dirname, "init-"))
  try {
    return await use(folder)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const node = (cwd: string, file: string): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ["--conditions=@divisi/source", file], { cwd })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text
      })
    }
    child.on("close", (code) => resolve(`${output}(${code})`))
  })

const namesOf = (language: Team.Language) => {
  const extension = language === "typescript" ? "mts" : "mjs"
  return { language, configFile: `divisi.config.${extension}`, scriptFile: `first.${extension}` }
}

/** Writes a team's files, and runs the script. */
const played = (models: ReadonlyArray<Team.Model>, language: Team.Language) =>
  inPackage((folder) => {
    const names = namesOf(language)
    const team = Team.make(models, names)
    fs.writeFileSync(path.join(folder, names.configFile), team.config)
    fs.writeFileSync(path.join(folder, names.scriptFile), team.script)
    return node(folder, names.scriptFile)
  })

it("names the Node of the clone if the user's own is too old", () => {
  const brought = path.resolve("/clone/.divisi/node24/node_modules/node/bin/node")
  const folder = path.resolve("/clone/app")
  assert.strictEqual(Clone.nodeFor(folder, brought), path.join("..", ".divisi/node24/node_modules/node/bin/node"))
  assert.match(Clone.nodeFor(path.resolve("/app"), brought.replace("clone", "my clone")), /^".+"$/)
  assert.strictEqual(Clone.nodeFor(folder, path.resolve("/usr/bin/node")), "node")
  assert.strictEqual(
    Clone.commandFor(folder, path.join(folder, "../my clone/divisi.mjs")),
    `node "${path.join("..", "my clone/divisi.mjs")}"`
  )
})

describe("the next steps of divisi init", () => {
  const next = ["../.divisi/node first.mts", 'node ../bin/divisi.js run "a question"']
  const enter = ["cd app"]

  it("enter the folder once, before the installation, and explain the Node of a clone", () =>
    assert.deepStrictEqual(Init.nextLines({ enter, install: "npm install a.tgz", next, ownsNode: false }), [
      "Install the packages:",
      "  cd app",
      "  npm install a.tgz",
      "The script needs Node 22.19 or newer, and yours is older. The command below uses this clone's Node.",
      "Then:",
      ...next.map((line) => `  ${line}`)
    ]))

  it("enter the folder first once the packages are installed", () =>
    assert.deepStrictEqual(Init.nextLines({ enter, install: undefined, next, ownsNode: true }), [
      "Then:",
      "  cd app",
      ...next.map((line) => `  ${line}`)
    ]))
})

describe("what divisi init writes", () => {
  it.each(["typescript", "javascript"] as const)("answers in the gym, in %s", async (language) => {
    assert.match(await played([], language), /^4560\n1 calls, USD 0\.0\d+\n\(0\)$/)
  })

  it.each(["typescript", "javascript"] as const)("asks a server where it is, in %s", async (language) => {
    await using server = await WireServer.start(OpenAiChat.compatible({}), [Script.answer("16807 is larger.")])
    const model = { vendor: "ollama", model: "qwen3:8b", baseURL: server.url }
    assert.match(await played([model], language), /^16807 is larger\.\n\d calls, USD 0\.0000\n\(0\)$/)
    assert.strictEqual(server.exchanges[0]?.sent.model, "qwen3:8b")
  })

  it("asks the user's own server with its key", async () => {
    await using server = await WireServer.start(OpenAiChat.compatible({}), [Script.answer("16807 is larger.")])
    const model = { vendor: "home-lab", model: "small", baseURL: server.url, keyVariable: "PATH" }
    assert.match(await played([model], "typescript"), /^16807 is larger\./)
    assert.strictEqual(server.exchanges[0]?.sent.model, "small")
    assert.notInclude(Team.make([model], namesOf("typescript")).config, process.env.PATH!)
  })

  it("limits what it costs where prices are known, and the calls where they are not", () => {
    const config = (...models: ReadonlyArray<Team.Model>) => Team.make(models, namesOf("typescript")).config
    assert.include(config({ vendor: "openai", model: "gpt-5" }, { vendor: "ollama", model: "a" }), "costUsd: 0.5")
    assert.include(config({ vendor: "openai", model: "gpt-5" }, { vendor: "openrouter", model: "a/b" }), "calls: 20")
  })

  it("asks for the packages that it imports, each once", () => {
    const models = [
      { vendor: "openai", model: "gpt-5" },
      { vendor: "lm-studio", model: "a" },
      { vendor: "anthropic", model: "b" }
    ]
    assert.deepStrictEqual(Team.make(models, namesOf("typescript")).packages, [
      "@divisi/core",
      "effect",
      "@divisi/providers-openai",
      "@divisi/providers-anthropic"
    ])
  })
})

describe("divisi init finds", () => {
  const serving = async (body: unknown, use: (baseURL: string) => Promise<void>) => {
    const server = http.createServer((_, response) => response.end(JSON.stringify(body)))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`).finally(() => server.close())
  }
  const look = (environment: Record<string, string>) => Effect.runPromise(Found.look(environment))
  const nowhere = "http://127.0.0.1:1/v1"
  const silent = {
    OLLAMA_BASE_URL: nowhere,
    VLLM_BASE_URL: nowhere,
    SGLANG_BASE_URL: nowhere,
    LLAMA_SERVER_BASE_URL: nowhere,
    LM_STUDIO_BASE_URL: nowhere
  }

  it("keys, without showing them", async () => {
    const found = await look({ ...silent, OPENAI_API_KEY: "sk-secret", OPENROUTER_API_KEY: "sk-other" })
    assert.deepStrictEqual(
      found.map(({ vendor }) => vendor),
      ["openai", "openrouter"]
    )
    assert.notInclude(JSON.stringify(found), "sk-")
  })

  it("a server with its models of text", async () => {
    const data = [{ id: "qwen3:8b" }, { id: "nomic-embed-text" }, { id: 7 }, null, { id: "x\u001b[2J" }]
    await serving({ data }, async (OLLAMA_BASE_URL) => {
      const [found] = await look({ ...silent, OLLAMA_BASE_URL })
      assert.deepStrictEqual(found?.models, ["qwen3:8b"])
    })
  })

  it("no server where something else answers", async () => {
    await serving({ hello: "world" }, async (VLLM_BASE_URL) => {
      assert.isEmpty(await look({ ...silent, VLLM_BASE_URL }))
    })
  })
})

describe("the project that divisi init writes into", () => {
  const within = (files: Readonly<Record<string, string>>, use: (folder: string) => void) =>
    inFolder(async (folder) => {
      for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text)
      use(folder)
    })

  it("gets files that are modules, whatever its type", async () => {
    await within({}, (folder) => assert.strictEqual(Project.extensionOf(folder, "typescript"), "ts"))
    await within({ "package.json": '{"type":"module"}' }, (folder) =>
      assert.strictEqual(Project.extensionOf(folder, "javascript"), "js")
    )
    for (const manifest of ['{"type":"commonjs"}', "{}", "{"]) {
      await within({ "package.json": manifest }, (folder) => {
        assert.strictEqual(Project.extensionOf(folder, "typescript"), "mts")
        assert.strictEqual(Project.extensionOf(folder, "javascript"), "mjs")
      })
    }
  })

  it("is installed by whom its lock file, its manifest or its caller names", async () => {
    const git = (folder: string) => fs.mkdirSync(path.join(folder, ".git"))
    await within({ "pnpm-lock.yaml": "" }, (folder) => {
      const below = path.join(folder, "below")
      fs.mkdirSync(below)
      assert.strictEqual(Project.packageManagerOf(below, "npm/11.0.0 node/v24"), "pnpm")
    })
    await within({ "package.json": '{"packageManager":"yarn@4.1.0"}' }, (folder) =>
      assert.strictEqual(Project.packageManagerOf(folder, undefined), "yarn")
    )
    await within({}, (folder) => {
      git(folder)
      assert.strictEqual(Project.packageManagerOf(folder, "bun/1.3.0 npm/? node/v24"), "bun")
      assert.strictEqual(Project.packageManagerOf(folder, undefined), "npm")
    })
    assert.deepStrictEqual(Project.addCommand("pnpm", ["a"]), ["pnpm", "add", "a"])
  })
})

describe("divisi init", () => {
  it("overwrites nothing without the flag", () =>
    inFolder(async (cwd) => {
      fs.writeFileSync(path.join(cwd, "divisi.config.ts"), "mine")
      const { code, errors } = await divisi(["init", "--yes", "--models", "gym"], { cwd })
      assert.strictEqual(code, 1)
      assert.match(errors, /divisi\.config\.ts already exists. Overwrite with --force/)
      assert.deepStrictEqual(fs.readdirSync(cwd), ["divisi.config.ts"])
      assert.strictEqual(fs.readFileSync(path.join(cwd, "divisi.config.ts"), "utf8"), "mine")
    }))

  it("writes no second config next to one of another name", () =>
    inFolder(async (cwd) => {
      fs.writeFileSync(path.join(cwd, "divisi.config.mjs"), "")
      const { code, errors } = await divisi(["init", "--json", "--force", "--models", "gym"], { cwd })
      assert.strictEqual(code, 1)
      assert.match(errors, /divisi\.config\.mjs already exists/)
      assert.deepStrictEqual(fs.readdirSync(cwd), ["divisi.config.mjs"])
    }))

  it("accepts models of a server whose base URL is set", () =>
    inFolder(async (cwd) => {
      fs.writeFileSync(path.join(cwd, "divisi.config.mjs"), "")
      const environment = { HOME_LAB_BASE_URL: "http://127.0.0.1:9/v1" }
      const { code, errors } = await divisi(["init", "--yes", "--models", "home-lab:small"], { cwd, environment })
      assert.strictEqual(code, 1)
      assert.match(errors, /divisi\.config\.mjs already exists/)
    }))

  it("takes models by name, and says which vendors it knows", () =>
    inFolder(async (cwd) => {
      const { code, errors } = await divisi(["init", "--yes", "--models", "gpt-5"], { cwd })
      assert.strictEqual(code, 2)
      assert.match(errors, /unknown model "gpt-5"\. .*Use vendor:model with one of openai, anthropic/)
    }))
})
