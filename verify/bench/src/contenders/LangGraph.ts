/**
 * LangGraph.js: a `StateGraph` with a node for each step and an edge for each dependency, compiled once. A node with
 * several incoming edges waits for all of them (`addEdge([a, b], c)`). LangGraph executes supersteps: nodes that become
 * ready in one superstep run in the next.
 */

import { Annotation, Command, END, MemorySaver, Send, START, StateGraph } from "@langchain/langgraph"
import type { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite"
import type { Contender } from "../Contender.ts"
import {
  expertMessages,
  expertWorker,
  joinMessages,
  judgeMessages,
  lastWorker,
  listWorker,
  type Mapping,
  type Panel,
  stageMessages,
  stageWorker
} from "../Programs.ts"
import { temporaryFile } from "../temporary.ts"
import { compose, type Workload } from "../Workload.ts"

const State = Annotation.Root({
  answers: Annotation<Readonly<Record<number, string>>>({
    reducer: (left, right) => ({ ...left, ...right }),
    default: () => ({})
  })
})

const graph = ({ plan, worker }: Workload) => {
  const builder = new StateGraph(State) as StateGraph<
    (typeof State)["spec"],
    typeof State.State,
    typeof State.Update,
    string
  >
  plan.steps.forEach(({ access }, index) => {
    builder.addNode(`step-${index}`, async ({ answers }) => {
      const messages = compose(plan, index, (earlier) => answers[earlier]!)
      return { answers: { [index]: await worker(index)(messages) } }
    })
    const sources = access.map((earlier) => `step-${earlier}`)
    if (sources.length === 0) builder.addEdge(START, `step-${index}`)
    else builder.addEdge(sources.length === 1 ? sources[0]! : sources, `step-${index}`)
  })
  return builder.addEdge(`step-${plan.steps.length - 1}`, END)
}

const MapState = Annotation.Root({
  /** Answers with the index of their item. */
  answers: Annotation<ReadonlyArray<readonly [number, string]>>({
    reducer: (left, right) => left.concat(right),
    default: () => []
  }),
  answer: Annotation<string>
})

type MapBuilder = StateGraph<(typeof MapState)["spec"], typeof MapState.State, typeof MapState.Update, string>

interface Sent {
  readonly index: number
  readonly item: string
  readonly before?: string
}

/** A `Send` for each item, and from each stage of an item to the next one. Supersteps run one after another. */
const mappingGraph = (mapping: Mapping) => {
  const list = listWorker(mapping)
  const builder = new StateGraph(MapState) as MapBuilder
  builder.addNode(
    "list",
    async () => {
      const items: ReadonlyArray<string> = JSON.parse(await list([]))
      return new Command({ goto: items.map((item, index) => new Send("stage-0", { index, item })) })
    },
    { ends: ["stage-0"] }
  )
  builder.addEdge(START, "list")
  const last = mapping.stages.length - 1
  mapping.stages.forEach((_, stage) => {
    const ask = stageWorker(mapping, stage)
    builder.addNode(
      `stage-${stage}`,
      (async ({ before, index, item }: Sent) => {
        const answer = await ask(stageMessages(mapping, stage, item, before))
        if (stage === last) return { answers: [[index, answer]] }
        return new Command({ goto: new Send(`stage-${stage + 1}`, { index, item, before: answer }) })
      }) as never,
      stage === last ? {} : { ends: [`stage-${stage + 1}`] }
    )
  })
  builder.addNode("join", async ({ answers }) => {
    const ordered: Array<string> = []
    for (const [index, answer] of answers) ordered[index] = answer
    return { answer: await lastWorker(joinMessages(mapping, ordered)) }
  })
  return builder.addEdge(`stage-${last}`, "join").addEdge("join", END)
}

/** LangGraph has no quorum, so the judge's node waits for all experts. */
const panelGraph = (panel: Panel) => {
  const builder = new StateGraph(State) as StateGraph<
    (typeof State)["spec"],
    typeof State.State,
    typeof State.Update,
    string
  >
  const last = panel.experts.length
  panel.experts.forEach((_, expert) => {
    const ask = expertWorker(panel, expert)
    builder.addNode(`expert-${expert}`, async () => ({
      answers: { [expert]: await ask(expertMessages(panel, expert)) }
    }))
    builder.addEdge(START, `expert-${expert}`)
  })
  builder.addNode("judge", async ({ answers }) => ({
    answers: {
      [last]: await lastWorker(
        judgeMessages(
          panel,
          panel.experts.map((_, expert) => answers[expert])
        )
      )
    }
  }))
  return builder
    .addEdge(
      panel.experts.map((_, expert) => `expert-${expert}`),
      "judge"
    )
    .addEdge("judge", END)
}

/** Loaded separately, because the saver uses a native module that the other rows do not need. */
const openSaver = async (): Promise<SqliteSaver> => {
  const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite")
  return SqliteSaver.fromConnString(temporaryFile("threads.sqlite"))
}

export const contender: Contender = {
  name: "langGraph",
  prepare: async (workload) => {
    const compiled = graph(workload).compile()
    const last = workload.plan.steps.length - 1
    return { run: async () => (await compiled.invoke({})).answers[last]! }
  },
  // LangGraph's record of a run: a checkpoint for each superstep, in memory. The thread is deleted after the run.
  prepareRecorded: async (workload) => {
    const checkpointer = new MemorySaver()
    const compiled = graph(workload).compile({ checkpointer })
    const last = workload.plan.steps.length - 1
    let runs = 0
    return {
      run: async () => {
        const thread = `run-${runs++}`
        const { answers } = await compiled.invoke({}, { configurable: { thread_id: thread } })
        await checkpointer.deleteThread(thread)
        return answers[last]!
      }
    }
  },
  // With "sync", a superstep is written before the next one starts. The saver does not wait for the disk when it
  // commits.
  prepareDurable: async (workload) => {
    const compiled = graph(workload).compile({ checkpointer: await openSaver() })
    const last = workload.plan.steps.length - 1
    let runs = 0
    return {
      run: async () => {
        const options = { configurable: { thread_id: `run-${runs++}` }, durability: "sync" } as const
        return (await compiled.invoke({}, options)).answers[last]!
      }
    }
  },
  prepareMapping: async (mapping) => {
    const compiled = mappingGraph(mapping).compile()
    return { run: async () => (await compiled.invoke({}, { maxConcurrency: mapping.atOnce })).answer }
  },
  preparePanel: async (panel) => {
    const compiled = panelGraph(panel).compile()
    return { run: async () => (await compiled.invoke({})).answers[panel.experts.length]! }
  }
}
