/**
 * Words for what others' code throws or sends: they are shown on one line or in a page, so they can neither throw again
 * nor act on what shows them.
 */

/** Control characters, C1 included, but for tabs and line feeds; separators of lines; marks of writing direction. */
const acting =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** The text with a space for each character that would act on a terminal or turn the order of what is read. */
export const plain = (text: string): string => text.replace(acting, " ")

const said = (thrown: unknown): unknown =>
  typeof thrown === "object" && thrown !== null && "message" in thrown ? thrown.message : thrown

/** The message of what was thrown, whatever it is: hostile objects throw once more when they are looked at. */
export const messageOf = (thrown: unknown): string => {
  try {
    return plain(String(said(thrown)))
  } catch {
    return "something that cannot be shown"
  }
}

/** A third-party object may throw when its type is inspected. */
export const isA = <A>(value: unknown, type: new (...args: never) => A): value is A => {
  try {
    return value instanceof type
  } catch {
    return false
  }
}
