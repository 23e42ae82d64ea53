import { afterAll } from 'vitest';

/*
 * After each file of the searches: how much its process has looked at so far, if somebody wants to know. Files share processes.
 */

if (process.env['STILLAGE_LONG'] !== undefined || process.env['STILLAGE_TALLY'] !== undefined) {
  afterAll(async () => {
    const { looked } = await import('./verdict.ts');
    console.log('looked at', looked, process.cpuUsage());
  });
}
