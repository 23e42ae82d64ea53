/** What a preset decides of a deployment's size; each of these can be set by itself as well. */
export interface Sizes {
  /** What carries the bodies of objects: a service on Fargate, or the functions of the operations within their limits. */
  readonly byteLane: 'fargate' | 'functions';
  readonly byteLaneMinimumTasks: number;
  readonly byteLaneMaximumTasks: number;
  /** Of one server, in units of a 1,024th of a processor. */
  readonly byteLaneCpu: number;
  /** Of one server, in MiB. */
  readonly byteLaneMemory: number;
}

/** docs/cloud.md says what each costs, and what its limits are. */
export const presets = {
  standard: {
    byteLane: 'fargate',
    byteLaneMinimumTasks: 2,
    byteLaneMaximumTasks: 20,
    byteLaneCpu: 1024,
    byteLaneMemory: 2048,
  },
  /** One server of half a processor: while it is replaced, or its zone is out, the byte lane is out as well. */
  single: {
    byteLane: 'fargate',
    byteLaneMinimumTasks: 1,
    byteLaneMaximumTasks: 2,
    byteLaneCpu: 512,
    byteLaneMemory: 1024,
  },
  /** No servers: next to nothing at rest, within the limits of functions. */
  small: {
    byteLane: 'functions',
    byteLaneMinimumTasks: 1,
    byteLaneMaximumTasks: 1,
    byteLaneCpu: 512,
    byteLaneMemory: 1024,
  },
} as const satisfies Readonly<Record<string, Sizes>>;

export type Preset = keyof typeof presets;

/** The values that a setting of a preset can have: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-cpu-memory-error.html */
export const memoryOfCpu: Readonly<Record<number, readonly number[]>> = {
  512: [1024, 2048, 3072, 4096],
  1024: [2048, 3072, 4096, 5120, 6144, 7168, 8192],
  2048: [4096, 8192, 12288, 16384],
  4096: [8192, 16384, 24576, 30720],
};
