/** Graders for answers in words or letters. */
export * as LetterGrader from "./text/LetterGrader.ts"
export * as TextGrader from "./text/TextGrader.ts"
