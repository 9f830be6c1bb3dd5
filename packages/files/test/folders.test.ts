import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Checksum from "../src/Checksum.ts"
import * as UserFolders from "../src/UserFolders.ts"
import { folder } from "./folder.ts"

const root = folder()

const cacheWith = (environment: Record<string, string>) =>
  Effect.provide(
    UserFolders.cache("models", "DIVISI_MODELS"),
    ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment))
  )

describe.skipIf(process.platform !== "linux")("a cache folder", () => {
  it.effect("is the one that is named, else one of the user's", () =>
    Effect.gen(function* () {
      const home = { HOME: "/home/ada" }
      expect(yield* cacheWith(home)).toBe("/home/ada/.cache/divisi/models")
      expect(yield* cacheWith({ ...home, XDG_CACHE_HOME: "/var/cache" })).toBe("/var/cache/divisi/models")
      expect(yield* cacheWith({ ...home, XDG_CACHE_HOME: "relative" })).toBe("/home/ada/.cache/divisi/models")
      expect(yield* cacheWith({ ...home, DIVISI_MODELS: "models" })).toBe(path.resolve("models"))
      expect(yield* cacheWith({ ...home, DIVISI_MODELS: "" })).toBe("/home/ada/.cache/divisi/models")
      expect(yield* cacheWith({})).toBe(path.join(os.homedir(), ".cache/divisi/models"))
    })
  )

  it.effect("is in the system's home folder of the user if HOME is empty", () =>
    Effect.gen(function* () {
      const { HOME } = process.env
      process.env.HOME = ""
      try {
        expect(yield* cacheWith({})).toBe(path.join(os.userInfo().homedir, ".cache/divisi/models"))
      } finally {
        if (HOME === undefined) delete process.env.HOME
        else process.env.HOME = HOME
      }
    })
  )
})

describe("a checksum", () => {
  it.effect("is of all bytes of a file", () =>
    Effect.gen(function* () {
      const file = path.join(root, "abc")
      fs.writeFileSync(file, "abc")
      expect(yield* Checksum.ofFile(file)).toEqual({
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        bytes: 3
      })
      expect((yield* Effect.flip(Checksum.ofFile(root))).message).toContain(`${root} cannot be read: `)
    })
  )
})
