/** Recipes by name, with all the parts of a training run, and the pool from the Conductor paper. */
export * as Environment from "./Environment.ts"
export { PaperPoolError, type PaperPoolOptions, type PaperSetting, paperPool } from "./paper/PaperPool.ts"
export type { DryRunFacts, Recipe, RecipeOptions, Training } from "./Recipe.ts"
export { type Known, recipes } from "./Recipes.ts"
export * as Vendor from "./Vendor.ts"
