import { describe, expect, it } from 'vitest';
import { simulate } from './simulation.ts';

describe.each(['machine', 'cloud'] as const)('a simulated service (%s)', (deployment) => {
  it('keeps its promises', { timeout: 600_000 }, async () => {
    const before = performance.now();
    const report = await simulate({ seed: 1, deployment, requests: 1000 });
    console.log(report, performance.now() - before);
    expect(report.requests).toBeGreaterThan(900);
  });
});
