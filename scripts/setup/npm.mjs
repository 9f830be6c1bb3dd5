/** The command that runs npm: the one that runs this script, or else the one on the path. */
export const npm = () => {
  const own = process.env.npm_execpath
  return own?.endsWith("npm-cli.js") ? [process.execPath, own] : ["npm"]
}

/** By default npm tries for minutes before it says that there is no network. */
export const patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]
