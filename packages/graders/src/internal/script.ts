/** Locates scripts that run in a separate thread or process. */

/**
 * Returns the URL of a script, given its path in `src` without extension. In a build, shared code may end up in files
 * whose location is not known in advance, so the URL is resolved against the build folder.
 */
export const script = (path: string): URL => {
  const here = import.meta.url
  if (here.endsWith(".ts")) return new URL(`../${path}.ts`, here)
  const build = "/dist/"
  return new URL(`${path}.js`, here.slice(0, here.lastIndexOf(build) + build.length))
}
