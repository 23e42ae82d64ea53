import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { memoryOf } from '../resources/processes.ts';
import { MemoryWatch } from '../support/runs/memory.ts';
import { runs } from '../support/runs/runs.ts';
import { mayWrite } from './attacks.ts';
import { Excess } from './bounds.ts';
import { lineOf, search, type Plan } from './search.ts';
import { AttackedService } from './victim.ts';
import { eventually } from '../support/runs/eventually.ts';

/** Settable, to try a failure again: TEST_SEED=7 TEST_ATTACKS=500. */
const seed = Number(process.env['TEST_SEED'] ?? 1);
const attacks = (usual: number): number => Number(process.env['TEST_ATTACKS'] ?? runs(usual));

const isLong = (process.env['TEST_LONG'] ?? '') !== '';
const skipped = 'takes minutes: TEST_LONG=1 npx vitest run test/adversary';

const MiB = 1024 * 1024;
const timeout = 10_800_000;

describe.skipIf(!MemoryWatch.isPossible)('an adversary with little to send', { timeout }, () => {
  let victim: AttackedService;
  beforeAll(async () => {
    victim = await AttackedService.start();
  });
  afterAll(() => victim.end());

  const searches: readonly (Omit<Plan, 'seed'> & { readonly who: string })[] = [
    { who: 'who may change nothing', attacks: attacks(20), may: (attack) => !mayWrite(attack) },
    { who: 'who has a bucket', attacks: attacks(10), may: mayWrite },
  ];
  it.for(searches)(
    '$who takes no more than is documented, whatever it sends and however it leaves',
    async ({ who, ...plan }) => {
      const { worst, honest } = await search(victim, { seed, ...plan });
      const lines = Object.entries(worst).map(([measure, outcome]) => `most ${measure}: ${lineOf(outcome)}`);
      console.log(
        [`${who}, ${plan.attacks} attacks, seed ${seed}, ${honest.toFixed(2)} ms a request`, ...lines].join('\n'),
      );
      await victim.expectWhole();
    },
  );

  it('keeps none of it', async () => {
    await eventually(() => expect(memoryOf(victim.service.pid)).toBeLessThan(victim.memory + 96 * MiB));
  });
});

describe.skipIf(!MemoryWatch.isPossible)('a planted fault is found', { timeout }, () => {
  it.for([
    ['memory', 'connections that are reset keep memory'],
    ['processor', 'requests that wait on a connection take long'],
    ['disk', 'refused deletions are written down'],
  ] as const)('in %s: %s', async ([measure], context) => {
    if (measure === 'processor' && !isLong) context.skip(skipped);
    const preload = join(import.meta.dirname, 'planted-faults.mjs');
    const victim = await AttackedService.start(10, { NODE_OPTIONS: `--import=${preload}`, PLANTED_FAULT: measure });
    onTestFinished(() => victim.end());
    const found: unknown = await search(victim, { seed, attacks: 300, may: (attack) => !mayWrite(attack) }).catch(
      (error: unknown) => error,
    );
    expect(found, String(found)).toBeInstanceOf(Excess);
    expect((found as Excess).message).toMatch(new RegExp(`more than \\d+ of ${measure}`));
  });
});
