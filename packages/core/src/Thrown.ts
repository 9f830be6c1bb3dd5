/**
 * Text for values that third-party code throws or sends. It is safe to show on one line or in a page: it can neither
 * throw again nor affect the program that shows it.
 */

/** Control characters (including C1, except tab and line feed), line separators and bidirectional marks. */
const acting =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Returns the text with a space for each character that would control a terminal or change the reading order. */
export const plain = (text: string): string => text.replace(acting, " ")

const said = (thrown: unknown): unknown =>
  typeof thrown === "object" && thrown !== null && "message" in thrown ? thrown.message : thrown

/** Returns the message of any thrown value. Hostile objects may throw again when they are inspected. */
export const messageOf = (thrown: unknown): string => {
  try {
    return plain(String(said(thrown)))
  } catch {
    return "something that cannot be shown"
  }
}

/**
 * Whether a third-party value is an instance of a class. Never throws, although such objects may throw when inspected.
 */
export const isA = <A>(value: unknown, type: new (...args: never) => A): value is A => {
  try {
    return value instanceof type
  } catch {
    return false
  }
}
