import { beforeEach, describe, expect, it } from 'vitest';
import { OriginSecret, readingInterval } from '../../../../functions/cloud/origin-secret.ts';
import { SetClock } from '../../../support/storage/fixed-deps.ts';

let clock: SetClock;
let stored: readonly string[] | Error;
let readings: number;
let problems: unknown[];
let edge: OriginSecret;

beforeEach(() => {
  clock = new SetClock();
  stored = ['first'];
  readings = 0;
  problems = [];
  edge = new OriginSecret({
    secret: 'first',
    read: async () => {
      readings += 1;
      if (stored instanceof Error) throw stored;
      return stored;
    },
    clock,
    telemetry: { problem: (_message, error) => void problems.push(error) },
  });
});

const judged = (...proofs: (string | undefined)[]): Promise<boolean[]> =>
  Promise.all(proofs.map((proof) => edge.holds(proof)));

describe('the proof of the distribution', () => {
  it('is what was read at the start, and nothing is read for it', async () => {
    expect(await judged('first', 'first')).toEqual([true, true]);
    expect(readings).toBe(0);
  });

  it('is none where there is none, without a read', async () => {
    expect(await judged(undefined)).toEqual([false]);
    expect(readings).toBe(0);
  });

  it('is the new value as well as the one before, once it was renewed', async () => {
    stored = ['second', 'first'];
    expect(await judged('first', 'second', 'first')).toEqual([true, true, true]);
    expect(readings).toBe(1);
  });

  it('is the one before for a process that started with the new value', async () => {
    stored = ['first', 'zeroth'];
    expect(await judged('zeroth', 'first')).toEqual([true, true]);
  });

  it('is not the one before that', async () => {
    stored = ['third', 'second'];
    expect(await judged('third')).toEqual([true]);
    expect(await judged('first', 'second')).toEqual([false, true]);
  });
});

describe('proofs that are made up', () => {
  it('have the secret read once in ten seconds, however many there are', async () => {
    expect(await judged('guess', 'another')).toEqual([false, false]);
    expect(await judged('guess', '', 'firs', 'first ')).toEqual([false, false, false, false]);
    clock.time += readingInterval - 1;
    expect(await judged('guess')).toEqual([false]);
    expect(readings).toBe(1);
    clock.time += 1;
    expect(await judged('guess', 'another')).toEqual([false, false]);
    expect(readings).toBe(2);
  });

  it('do not keep the distribution out: what was read for them is what it proves itself by next', async () => {
    stored = ['second', 'first'];
    expect(await judged('guess')).toEqual([false]);
    expect(await judged('second', 'first')).toEqual([true, true]);
    expect(readings).toBe(1);
  });

  it('have it read again after a clock was set back', async () => {
    await judged('guess');
    clock.time -= 60 * 60 * 1000;
    stored = ['second', 'first'];
    expect(await judged('second')).toEqual([true]);
  });
});

describe('a secret that cannot be read', () => {
  it('leaves in force what was known, says so, and is tried again', async () => {
    stored = new Error('no network');
    expect(await judged('second', 'first')).toEqual([false, true]);
    expect(problems).toEqual([stored]);
    stored = ['second', 'first'];
    expect(await judged('second')).toEqual([false]);
    clock.time += readingInterval;
    expect(await judged('second', 'first')).toEqual([true, true]);
  });
});
