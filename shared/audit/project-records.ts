import type { KeyValueTable } from '../ports/key-value-table.ts';
import { auditKey } from '../storage/table/keys/audit-keys.ts';
import { recordIn } from './audit-log.ts';
import type { AuditRecord } from './audit-record.ts';

/** Which records of a project are asked for. */
interface ProjectQuery {
  /** The first and the last time, in milliseconds. */
  readonly from: number;
  readonly to: number;
  /** How many at most. */
  readonly limit: number;
  /** The place of the record after which, going back in time, it goes on. */
  readonly after?: string | undefined;
}

/** The records of the audit log that concern one project, but for those of requests for data. */
export class ProjectRecords {
  readonly #table: KeyValueTable;

  constructor({ table }: { readonly table: KeyValueTable }) {
    this.#table = table;
  }

  /**
   * Reads records by one query, newest first, as they are or were a moment ago.
   * @param project its canonical id
   * @returns `next`: the place of the last one; undefined: there are no older ones
   */
  async of(
    project: string,
    { from, to, limit, after }: ProjectQuery,
  ): Promise<{ readonly records: readonly AuditRecord[]; readonly next?: string | undefined }> {
    const { items, more } = await this.#table.query(auditKey.ofProject(project), {
      ...{ limit, reverse: true, mayBeStale: true },
      ...{ from: auditKey.from(from), after: after ?? auditKey.from(to + 1) },
    });
    return {
      records: items.map(({ attributes }) => recordIn(attributes)),
      next: more ? items.at(-1)?.key.sk : undefined,
    };
  }

  /** Returns the place of a record. */
  placeOf({ time, id }: AuditRecord): string {
    return auditKey.recordOf('', time, id).sk;
  }
}
