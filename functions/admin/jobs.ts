/** What a service does at the request of an operator, beside its other work. */
export const jobKinds = ['scrub', 'release', 'backup'] as const;
export type JobKind = (typeof jobKinds)[number];

export const jobStates = ['running', 'done', 'failed', 'cancelled'] as const;

export interface Job {
  readonly id: string;
  readonly job: JobKind;
  readonly state: (typeof jobStates)[number];
  /** Milliseconds since the epoch. */
  readonly started: number;
  readonly ended?: number | undefined;
  /** The last line that it has told of its progress, or of why it failed. */
  readonly said?: string | undefined;
  /** What the command of its name prints with `--json`. Undefined: it has not ended, or printed none. */
  readonly result?: unknown;
}

/** The options of a job: those of the command of its name. */
export interface JobOptions {
  readonly content?: boolean | undefined;
  readonly repair?: boolean | undefined;
}

/** The jobs of a running service: those that run, and those that have ended lately. */
export interface Jobs {
  /** @throws Refusal if one of its kind runs, or the service has no use for it */
  start(kind: JobKind, options: JobOptions): Promise<Job>;
  /** Returns all of them, oldest first. */
  list(): readonly Job[];
  find(id: string): Job | undefined;
  /** Ends it, if it runs, and returns it once it has ended. */
  cancel(id: string): Promise<Job | undefined>;
}
