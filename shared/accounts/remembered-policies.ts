import type { Attribute, Attributes, ItemKey, KeyValueTable } from '../ports/key-value-table.ts';

/** Reads items, of which those that are not there are undefined. */
export type ItemReader = Pick<KeyValueTable, 'getTogether'>;

/** The number of items that are remembered. A policy has at most 6,144 characters in each of five versions. */
const most = 500;

/**
 * Remembers the groups and managed policies of projects, so that whoever carries some is not looked up at a higher price than others. They
 * are as they were as long as the item of their project has the same write token: each change of one gives it another.
 */
export class RememberedPolicies {
  readonly #table: ItemReader;
  readonly #projects = new Map<string, { readonly token: Attribute; readonly items: Map<string, Attributes> }>();
  #size = 0;

  constructor(table: ItemReader) {
    this.#table = table;
  }

  /**
   * Returns a reader of groups and policies of a project.
   * @param token the write token of the project's item, as just read. One without has neither: nothing is remembered
   */
  of(project: string, token: Attribute | undefined): ItemReader {
    if (token === undefined) return this.#table;
    return { getTogether: (keys) => this.#read(project, token, keys) };
  }

  async #read(
    project: string,
    token: Attribute,
    keys: readonly ItemKey[],
  ): Promise<readonly (Attributes | undefined)[]> {
    const known = this.#projects.get(project);
    const remembered = known?.token === token ? known.items : undefined;
    const unknown = keys.filter(({ sk }) => remembered?.has(sk) !== true);
    const read = unknown.length === 0 ? [] : await this.#table.getTogether(unknown);
    const found = new Map(remembered);
    for (const [at, { sk }] of unknown.entries()) if (read[at] !== undefined) found.set(sk, read[at]);
    if (unknown.length > 0) this.#remember(project, token, found);
    return keys.map(({ sk }) => found.get(sk));
  }

  #remember(project: string, token: Attribute, items: Map<string, Attributes>): void {
    this.#size += items.size - (this.#projects.get(project)?.items.size ?? 0);
    if (this.#size > most) {
      this.#projects.clear();
      this.#size = items.size;
    }
    this.#projects.set(project, { token, items });
  }
}
