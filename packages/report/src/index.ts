/** Pages and pictures of runs, sessions, trainings and evaluations. */
export * as CurvePicture from "./CurvePicture.ts"
export * as EstimatePicture from "./EstimatePicture.ts"
export * as EvaluationPage from "./EvaluationPage.ts"
export * as EvaluationTables from "./EvaluationTables.ts"
export * as RouterPicture from "./RouterPicture.ts"
export * as SessionPage from "./SessionPage.ts"
export * as TrainingPage from "./TrainingPage.ts"
export * as WorkflowPicture from "./WorkflowPicture.ts"
