/** The world used in tests: few machines with many runs and faults. */
export const small = { machines: 10, runs: 150, tasks: 20, faults: 40, seconds: 40 } as const
