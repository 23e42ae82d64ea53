import { createHash } from 'node:crypto';

/** A possible content of an object. */
export interface Content {
  readonly bytes: Buffer;
  /** The value of the ETag header, quoted. */
  readonly etag: string;
}

/** A possible state of a key: an object, or none. */
export type State = Content | 'absent';

/** Bytes that no other name has, unless there are none. */
export function contentOf(name: string, size: number): Content {
  const bytes = Buffer.alloc(size, `${name} `);
  return { bytes, etag: `"${md5(bytes).toString('hex')}"` };
}

/** Returns the content of an object assembled from parts. */
export function assembled(parts: readonly Content[]): Content {
  const digests = parts.map(({ bytes }) => md5(bytes));
  return {
    bytes: Buffer.concat(parts.map(({ bytes }) => bytes)),
    etag: `"${md5(Buffer.concat(digests)).toString('hex')}-${parts.length}"`,
  };
}

function md5(bytes: Buffer): Buffer {
  return createHash('md5').update(bytes).digest();
}

/** A change that was asked for and not answered yet. */
export interface Attempt {
  /** Called if the service acknowledged the change. */
  acknowledge(): void;
  /** Called if the service refused the change. */
  refuse(): void;
}

interface Entry {
  certain: State;
  readonly possible: Set<State>;
  /** Only the first write of this key can succeed. */
  readonly once: boolean;
}

/**
 * The possible states of the keys that clients write. An unanswered change may have happened or not; an acknowledged one has. The changes
 * of a key are sequential, unless only the first of them can succeed.
 */
export class Journal {
  readonly #entries = new Map<string, Entry>();
  readonly #touched = new Set<string>();

  /** @param once the change asks that there is nothing yet */
  attempt(key: string, state: State, once = false): Attempt {
    const entry = this.#entries.get(key) ?? { certain: 'absent', possible: new Set(), once };
    this.#entries.set(key, entry);
    this.#touched.add(key);
    entry.possible.add(state);
    return {
      acknowledge: () => {
        if (once && entry.certain !== 'absent') throw new Error(`${key} was made twice, though only once can succeed`);
        entry.certain = state;
        if (once) entry.possible.clear();
        else entry.possible.delete(state);
      },
      refuse: () => void entry.possible.delete(state),
    };
  }

  /** Returns the possible states of a key. */
  possible(key: string): readonly State[] {
    const { certain, possible, once } = this.#entries.get(key)!;
    return once && certain !== 'absent' ? [certain] : [certain, ...possible];
  }

  /** Notes how a key was found: so it must stay. */
  found(key: string, state: State): void {
    const entry = this.#entries.get(key)!;
    entry.certain = state;
    entry.possible.clear();
    this.#touched.delete(key);
  }

  /** The keys that changes were attempted of since they were found last. */
  touched(): string[] {
    return [...this.#touched];
  }

  /** The objects there must be, once every key was found. */
  objects(): Map<string, Content> {
    const objects = new Map<string, Content>();
    for (const [key, { certain }] of this.#entries) if (certain !== 'absent') objects.set(key, certain);
    return objects;
  }
}
