import type { Options } from "tsup"

/** The one build of every package: each file of `src` is an entry, ESM, with declarations. */
export const build = (options: Options = {}): Options => ({
  entry: ["src/*.ts"],
  format: "esm",
  target: "node22",
  dts: true,
  splitting: true,
  sourcemap: true,
  clean: true,
  treeshake: true,
  silent: true,
  ...options
})
