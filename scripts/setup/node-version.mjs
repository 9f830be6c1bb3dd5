/** The oldest Node version supported by Effect and the tools, equal to `engines` in package.json. */
export const minimum = "22.19"

/**
 * Whether a version such as `v24.1.0` is new enough.
 *
 * @param {string} version
 */
export function isSupported(version) {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = minimum.split(".").map(Number)
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}
