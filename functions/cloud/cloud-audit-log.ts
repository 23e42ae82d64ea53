import { AuditLog } from '../../shared/audit/audit-log.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { KeyValueTable } from '../../shared/ports/key-value-table.ts';
import type { Randomness } from '../../shared/ports/randomness.ts';
import type { Log } from '../../shared/telemetry/log.ts';

interface CloudAuditDeps {
  readonly table: KeyValueTable;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
}

/**
 * Returns the audit log of a function, whose records the table removes when they are too old; undefined: none is kept. A function flushes it
 * before it answers, as it may be frozen afterwards.
 * @param auditDays 0: nothing is taken down. @param auditStrict whether no act is answered as done unless it is taken down
 */
export function cloudAuditLog(
  { log, ...deps }: CloudAuditDeps,
  { auditDays, auditStrict }: { readonly auditDays: number; readonly auditStrict: boolean },
): AuditLog | undefined {
  if (auditDays === 0) return undefined;
  return new AuditLog(
    deps,
    { expiringAfter: auditDays },
    (records) => log.problem(`${records} audit records were lost: too many acts, or the table did not answer`),
    auditStrict,
  );
}
