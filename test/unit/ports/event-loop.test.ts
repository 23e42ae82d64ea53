import { describe, expect, it } from 'vitest';
import { EventLoopBudget, stepsPerTurn } from '../../../shared/ports/event-loop.ts';

describe('EventLoopBudget', () => {
  it('waits for the next turn whenever a turn is used up, and not before', async () => {
    let turns = 0;
    const budget = new EventLoopBudget(async () => void turns++);
    for (let step = 1; step < stepsPerTurn; step += 1) expect(budget.spend(1)).toBeUndefined();
    await budget.spend(1);
    expect(turns).toBe(1);
    expect(budget.spend(stepsPerTurn - 1)).toBeUndefined();
    await budget.spend(1);
    expect(turns).toBe(2);
  });

  it('lets nobody go on who shares it while it waits', async () => {
    const order: string[] = [];
    const budget = new EventLoopBudget();
    const worker = async (name: string): Promise<void> => {
      for (let piece = 0; piece < 3; piece += 1) {
        order.push(name);
        await budget.spend(stepsPerTurn);
      }
    };
    setImmediate(() => order.push('another request'));
    await Promise.all([worker('a'), worker('b')]);
    expect(order.slice(0, 3)).toEqual(['a', 'b', 'another request']);
  });

  it('maps and runs in as many turns as the steps say', async () => {
    let turns = 0;
    const budget = new EventLoopBudget(async () => void turns++);
    expect(await budget.map(Array.from({ length: 10 }), stepsPerTurn / 5, (_, index) => index)).toEqual([
      ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    ]);
    expect(turns).toBe(2);
    const work = function* (): Generator<number, string> {
      for (let piece = 0; piece < 10; piece += 1) yield stepsPerTurn / 5;
      return 'done';
    };
    expect(await budget.run(work())).toBe('done');
    expect(turns).toBe(4);
  });
});
