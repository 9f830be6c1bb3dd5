/** Graders of words and of letters. */
export * as LetterGrader from "./text/LetterGrader.ts"
export * as TextGrader from "./text/TextGrader.ts"
