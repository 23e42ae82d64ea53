import type { Clock } from '../../../shared/ports/clock.ts';
import type { Randomness } from '../../../shared/ports/randomness.ts';
import type { Secrets } from '../../../shared/ports/secrets.ts';

/** A clock that stands still until it is set, and whose sleeps end at once. */
export class SetClock implements Clock {
  time: number;

  constructor(time = Date.UTC(2026, 0, 2, 3, 4, 5)) {
    this.time = time;
  }

  now(): number {
    return this.time;
  }

  async sleep(): Promise<void> {
    // No time passes.
  }
}

/** Bytes that never come twice, and are the same at every run. */
export class CountedBytes implements Randomness {
  #count = 0;

  bytes(count: number): Uint8Array {
    this.#count += 1;
    return Uint8Array.from({ length: count }, (_, at) => Math.floor(this.#count / 64 ** at) % 64);
  }
}

/** Secrets that are none: sealed is the context and the secret as they are. */
export const openSecrets: Secrets = {
  seal: async (plaintext, context) => Buffer.concat([Buffer.from(`${context}:`), plaintext]),
  open: async (sealed, context) => {
    const prefix = Buffer.from(`${context}:`);
    const start = Buffer.from(sealed.subarray(0, prefix.length));
    if (!start.equals(prefix)) throw new Error('sealed under another context');
    return sealed.subarray(prefix.length);
  },
};

/** The dependencies for alarms in tests that do not use them. */
export const alarmAdapters = { secrets: openSecrets, actionKinds: new Set(['log', 'webhook'] as const) } as const;
