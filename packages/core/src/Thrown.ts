/**
 * Converts values thrown or sent by third-party code to text that is safe to display, in a terminal or on a web page.
 * Inspecting such a value never throws.
 */

/** Control characters (including C1, except tab and line feed), line separators and bidirectional marks. */
const acting =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Replaces characters that could control a terminal or change the text direction with spaces. */
export const plain = (text: string): string => text.replace(acting, " ")

const said = (thrown: unknown): unknown =>
  typeof thrown === "object" && thrown !== null && "message" in thrown ? thrown.message : thrown

/** Returns the message of a thrown value. Never throws, even if the value throws when it is inspected. */
export const messageOf = (thrown: unknown): string => {
  try {
    return plain(String(said(thrown)))
  } catch {
    return "something that cannot be shown"
  }
}

/** Like `instanceof`, but returns `false` if the check itself throws, as it may for third-party objects. */
export const isA = <A>(value: unknown, type: new (...args: never) => A): value is A => {
  try {
    return value instanceof type
  } catch {
    return false
  }
}
