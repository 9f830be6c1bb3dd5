/** Public functions that take options and do not check them, with the reason. */
export const unchecked: Readonly<Record<string, ReadonlyArray<string>>> = {
  "their options come from a configuration that was checked": [
    ...["AdamW.update", "Advantage.ofGroup", "Advantage.ofRounds", "Curriculum.drawPool", "Curriculum.extraRounds"],
    ...["Curriculum.question", "Estimate.rehearse", "Induction.tensors", "Machines.lead", "Objective.obstacle"],
    ...[
      "Objective.weights",
      "Rollout.group",
      "Rollout.reward",
      "RunFolder.create",
      "RunFolder.open",
      "Schedule.factor"
    ],
    ...["Model.shapes", "SharedResponses.make", "Models.allowed", "Models.names", "Models.problemOf", "Models.team"],
    ...["Gemini.makeWorker", "Gemini.overConnection", "Replay.answers", "Table.fit", "Trainings.lineOf", "Shots.add"],
    ...["Evaluation.madeSuite", "ContainerSandbox.command", "Dialects.Chat.protocol", "RunStream.make"],
    ...["WorkflowGrammar.afterReasoning", "WorkflowGrammar.span", "ProviderGate.make", "Dataset.fetchFiles"],
    "Conductor.ofChecked"
  ],
  "a function that they call or return checks them": [
    ...["ConductorForm.policy", "Gym.stream", "Head.learner", "LanguageModelWorker.make", "TinyConductor.make"],
    ...["TrainedConductor.form", "defineConfig", "streamAnswer", "streamResponse", "streamRun", "fork", "resume"]
  ],
  "they are called for every text, token or file": [
    ...["Prompt.conductorMessages", "Prompt.correctionMessages", "Sealed.open", "Sealed.parse", "Tokenizer.decode"],
    ...["Tokenizer.encode", "WorkflowText.read", "WorkflowText.write", "WholeFile.write", "WholeFile.writeJson"],
    ...["WholeFile.writeWith", "OutcomeLog.runOf", "JsonLines.open", "JsonLines.read"]
  ],
  "the options are those of another library": [
    "openTelemetry",
    "Options.check",
    "Options.checked",
    "ProcessGroup.start"
  ]
}
