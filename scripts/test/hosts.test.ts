import { describe, expect, it } from "vitest"
import { findHosts } from "../checks/hosts.ts"

// Assembled here, so that this file does not contain the name.
const host = ["registry", "npmjs", "org"].join(".")

describe("hosts", () => {
  it("finds the lines that name a registry", () => {
    expect(findHosts(`lockfileVersion: '9.0'\ntarball: https://${host}/a/-/a-1.tgz\n`)).toEqual([2])
    expect(findHosts("https://mirror.example/npm/a.tgz", ["mirror.example"])).toEqual([1])
  })

  it("finds nothing where none is named", () => {
    expect(
      findHosts("The package registry is the one that npm is set to.\nhttps://npmjs.com/package/effect\n")
    ).toEqual([])
  })
})
