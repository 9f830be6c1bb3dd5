/** Pages of the folders of evaluations and trainings, which are loaded together: they share the drawing of curves. */
export { EvaluationsPage } from "./evaluation/Evaluations.tsx"
export { TrainingsPage } from "./training/Trainings.tsx"
