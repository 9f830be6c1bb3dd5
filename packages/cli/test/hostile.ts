/** Text that acts where it is shown: it writes the clipboard, clears the screen, turns colours and the order of text. */
export const hostile =
  "\u001b]52;c;cHduZWQ=\u0007\u001b[2J\u001b[1A\u009b31m\u009d0;t\u009cA\u202eB\u2066C\u200f\u061cD\u0085E\u2028F\u0008\r"

/** Returns the first character of a text that would act, with its context; `undefined` if all are safe. */
export const actingIn = (text: string): string | undefined =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[^\n]{0,60}(?![\n\t])[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/.exec(text)?.[0]
