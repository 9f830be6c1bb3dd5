import { defineConfig } from "vitest/config"
import base from "./vitest.base.ts"

/** Where there are tests. */
const folders = ["packages/*", "lab/*", "verify/*", "scripts"]

/** Where tests need settings of their own, and so a project of their own. */
const apart = ["packages/cli", "packages/policy-llamacpp", "packages/trainer-jax"]

// All other tests are one project: their files share the worker threads and what these have loaded, and each source is
// transformed once. A project for each package took a twelfth of the computing more.
export default defineConfig((environment) => {
  const { exclude, include, ...settings } = base(environment).test!
  // A pattern for each folder: with all of them in braces, everything that is installed is searched, which takes a minute.
  const anywhere = (files: ReadonlyArray<string> = []) =>
    files.flatMap((file) => folders.map((folder) => `${folder}/${file}`))
  const together = {
    ...base(environment),
    test: {
      ...settings,
      name: "together",
      include: anywhere(include),
      exclude: [...anywhere(exclude), ...apart.map((folder) => `${folder}/**`)]
    }
  }
  return {
    test: { projects: [together, ...apart.map((folder) => `${folder}/vitest.config.ts`)], passWithNoTests: true }
  }
})
