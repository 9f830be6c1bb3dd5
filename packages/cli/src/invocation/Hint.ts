/** Commands that messages suggest, including the flags that locate the data of the current command. */
import * as Option from "effect/Option"

/** Flags that locate data. A suggested command without them would use other data. */
export interface Place {
  readonly journal?: Option.Option<string> | undefined
  readonly keys?: Option.Option<string> | undefined
  /** A database. Its address is never shown. */
  readonly database?: Option.Option<unknown> | undefined
  readonly config?: Option.Option<string> | undefined
}

/** Quotes a word for use in a shell, if necessary. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** Quotes a path with spaces, in the form that the shells of all systems accept. */
export const quotedPath = (path: string): string => (/\s/.test(path) ? `"${path}"` : path)

const none = Option.none<never>()

/** Returns a flag with its value, or nothing if it was not passed. */
export const flag = (name: string, value: Option.Option<string | number> = none): ReadonlyArray<string> =>
  Option.match(value, { onNone: () => [], onSome: (value) => [`--${name} ${quoted(`${value}`)}`] })

/** Returns the flags that locate data. The address of a database is left out, because it may contain a password. */
const flagsOf = ({ config, database = none, journal, keys }: Place): ReadonlyArray<string> => [
  ...flag("journal", journal),
  ...flag("keys", keys),
  ...(Option.isSome(database) ? ["--database <url>"] : []),
  ...flag("config", config)
]

/** Returns a suggested command with the flags that locate its data. */
export const command = (words: string, place: Place): string => [words, ...flagsOf(place)].join(" ")
