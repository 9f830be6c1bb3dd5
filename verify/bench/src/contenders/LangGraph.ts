/**
 * LangGraph.js: a `StateGraph` with a node for each step and an edge for each thing it sees, compiled once. A node with
 * several edges into it waits for all of them (`addEdge([a, b], c)`). LangGraph runs supersteps: what a superstep has
 * made ready runs in the next one.
 */

import { Annotation, END, MemorySaver, START, StateGraph } from "@langchain/langgraph"
import type { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite"
import type { Contender } from "../Contender.ts"
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

/** Its saver loads a native module, which the other rows do not need. */
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
  // Its record of a run: a checkpoint for each superstep, in memory. The thread is dropped after the run.
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
  // With "sync" a superstep is written before the next one starts. Its files do not wait for the disk at a commit.
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
  }
}
