import oneCallPerMinute from "./oneCallPerMinute.config.ts"

export default { ...oneCallPerMinute, limits: { a: { concurrency: 1 } } }
