/** Where a script lies that runs in a thread or a process of its own. */

/**
 * The address of a script, by its path in `src` without its ending. A build puts shared code into files whose place is
 * not known beforehand, so in a build the address is reckoned from the build's folder.
 */
export const script = (path: string): URL => {
  const here = import.meta.url
  if (here.endsWith(".ts")) return new URL(`../${path}.ts`, here)
  const build = "/dist/"
  return new URL(`${path}.js`, here.slice(0, here.lastIndexOf(build) + build.length))
}
