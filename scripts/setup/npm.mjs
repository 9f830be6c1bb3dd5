/** Returns the command for npm: the one that runs this script, or the one on the PATH. */
export const npm = () => {
  const own = process.env.npm_execpath
  return own?.endsWith("npm-cli.js") ? [process.execPath, own] : ["npm"]
}

/** Limits retries, as the clone's `.npmrc` does, for folders that npm does not apply that file to. */
export const patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]
