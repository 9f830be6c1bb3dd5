#!/usr/bin/env node
// Uses only syntax that very old versions of Node can parse, so that they can print the version error.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major > 22 || (major === 22 && minor >= 19)) {
  import("./start.js")
} else {
  process.stderr.write(
    `divisi needs Node 22.19 or newer; this is ${process.version}. Install a newer version from https://nodejs.org\n`
  )
  process.exitCode = 1
}
