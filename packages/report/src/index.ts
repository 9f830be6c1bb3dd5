/** Pictures of workflows, curves, estimates and routers, and tables of evaluations. */
export * as CurvePicture from "./CurvePicture.ts"
export * as EstimatePicture from "./EstimatePicture.ts"
export * as EvaluationTables from "./EvaluationTables.ts"
export * as RouterPicture from "./RouterPicture.ts"
export * as WorkflowPicture from "./WorkflowPicture.ts"
