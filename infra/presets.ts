/** The settings that a preset determines. Each can be overridden. */
export interface Sizes {
  /** The transport of object bodies: a service on Fargate, or the functions of the operations, within their limits. */
  readonly byteLane: 'fargate' | 'functions';
  readonly byteLaneMinimumTasks: number;
  readonly byteLaneMaximumTasks: number;
  /** CPU units of a server: 1,024 are one vCPU. */
  readonly byteLaneCpu: number;
  /** Memory of a server, in MiB. */
  readonly byteLaneMemory: number;
}

/** The presets. docs/cloud.md describes their costs and limits. */
export const presets = {
  standard: {
    byteLane: 'fargate',
    byteLaneMinimumTasks: 2,
    byteLaneMaximumTasks: 20,
    byteLaneCpu: 1024,
    byteLaneMemory: 2048,
  },
  /** One server of half a vCPU. The byte lane is unavailable while the server is replaced or its zone is down. */
  single: {
    byteLane: 'fargate',
    byteLaneMinimumTasks: 1,
    byteLaneMaximumTasks: 2,
    byteLaneCpu: 512,
    byteLaneMemory: 1024,
  },
  /** No servers: hardly any cost when idle, but the limits of functions apply. */
  small: {
    byteLane: 'functions',
    byteLaneMinimumTasks: 1,
    byteLaneMaximumTasks: 1,
    byteLaneCpu: 512,
    byteLaneMemory: 1024,
  },
} as const satisfies Readonly<Record<string, Sizes>>;

export type Preset = keyof typeof presets;

/** The memory sizes that Fargate supports for each CPU size: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-cpu-memory-error.html */
export const memoryOfCpu: Readonly<Record<number, readonly number[]>> = {
  512: [1024, 2048, 3072, 4096],
  1024: [2048, 3072, 4096, 5120, 6144, 7168, 8192],
  2048: [4096, 8192, 12288, 16384],
  4096: [8192, 16384, 24576, 30720],
};
