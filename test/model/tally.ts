import { afterAll } from 'vitest';

/*
 * Prints the totals of the explorations of this process after each file, on request. Files share processes.
 */

if (process.env['TEST_LONG'] !== undefined || process.env['TEST_TALLY'] !== undefined) {
  afterAll(async () => {
    const { looked } = await import('./verdict.ts');
    console.log('looked at', looked, process.cpuUsage());
  });
}
