/** A test that failed. */
export interface Failure {
  /** `test/api/x.test.ts > group > name`, or the file alone if it could not be loaded. */
  readonly test: string;
  readonly message: string;
}

/** A test that may fail once: test/tiers.mjs. */
export interface Excuse {
  readonly test: string;
  readonly cause: string;
  readonly owner: string;
  /** The last day, as in `2026-12-01`. */
  readonly until: string;
}

export function faultsOf(flaky: readonly Excuse[], strict: readonly string[], now: number): string[];

export function judge(
  first: readonly Failure[],
  second: readonly Failure[],
  rules: { readonly flaky: readonly Excuse[]; readonly strict: readonly string[] },
): { readonly failed: readonly Failure[]; readonly flaky: readonly Failure[] };

/** How many tests pass, and how many are skipped in which files. */
export interface Counts {
  readonly passed: number;
  readonly skipped: Readonly<Record<string, number>>;
}

export function differences(counts: Counts, expected: Counts): string[];
