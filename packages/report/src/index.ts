/** Pictures of workflows, curves, estimates and routers, tables of evaluations, and the page of a session. */
export * as CurvePicture from "./CurvePicture.ts"
export * as EstimatePicture from "./EstimatePicture.ts"
export * as EvaluationTables from "./EvaluationTables.ts"
export * as RouterPicture from "./RouterPicture.ts"
export * as SessionPage from "./SessionPage.ts"
export * as WorkflowPicture from "./WorkflowPicture.ts"
