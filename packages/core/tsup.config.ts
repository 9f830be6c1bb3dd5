import { build } from "../../tsup.base.ts"

export default {
  ...build(),
  // What a run loads becomes one file, because every entry point is given it. As thirty files, one for each set of entry
  // points that share a module, it cost a program's start 13 ms more.
  esbuildOptions: (options: { inject?: Array<string> }) => {
    options.inject = ["src/run/Conductor.ts"]
  }
}
