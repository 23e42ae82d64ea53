import fc from 'fast-check';
import { runs } from './runs.ts';

/** The number of concurrent cases: with a service, most of the time of a case is waiting. */
const lanes = 3;

/**
 * Checks a property with {@link runs} cases, some of them side by side.
 * @param usual a multiple of three
 */
export async function assertSideBySide<Given>(property: fc.IAsyncProperty<Given>, usual: number): Promise<void> {
  const { seed } = fc.readConfigureGlobal();
  // From one seed, all would try the same.
  const checks = Array.from({ length: lanes }, (_, lane) =>
    fc.assert(property, { numRuns: runs(usual / lanes), ...(seed !== undefined && { seed: seed + lane }) }),
  );
  const results = await Promise.allSettled(checks);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
