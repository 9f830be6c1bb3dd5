/** Graders for words and letters. */
export * as LetterGrader from "./text/LetterGrader.ts"
export * as TextGrader from "./text/TextGrader.ts"
