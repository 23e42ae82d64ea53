import type { ItemKey } from '../../../ports/key-value-table.ts';
import { sortableTime } from './ids.ts';

/** The keys of audit records: a partition for each day (UTC), in the order of time. */
export const auditKey = {
  partition: (day: string): string => `audit/${day}`,
  /** @param id tells records of one millisecond apart */
  record: (day: string, time: number, id: string): ItemKey => ({
    pk: auditKey.partition(day),
    sk: `${sortableTime(time)}-${id}`,
  }),
  /** The records of a project that are about no data, of all days, in the order of time. */
  ofProject: (project: string): string => `audit-of/${project}`,
  /** As {@link auditKey.record}, of a project. */
  recordOf: (project: string, time: number, id: string): ItemKey => ({
    pk: auditKey.ofProject(project),
    sk: `${sortableTime(time)}-${id}`,
  }),
  /** The first sort key of a time. */
  from: (time: number): string => sortableTime(time),
} as const;
