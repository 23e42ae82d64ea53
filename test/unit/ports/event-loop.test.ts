import { describe, expect, it } from 'vitest';
import { EventLoopBudget, stepsPerTurn, TurnQueue } from '../../../shared/ports/event-loop.ts';

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

describe('TurnQueue', () => {
  /** A queue whose turns of the event loop the test takes. */
  function queue(): { readonly turns: TurnQueue; readonly turn: () => Promise<void> } {
    const scheduled: (() => void)[] = [];
    const turn = async (): Promise<void> => {
      expect(scheduled).toHaveLength(1);
      scheduled.shift()!();
      await new Promise((resolve) => setImmediate(resolve));
    };
    return { turns: new TurnQueue((callback) => scheduled.push(callback)), turn };
  }

  it('lets one go on in each turn, first come, first served', async () => {
    const { turns, turn } = queue();
    const order: string[] = [];
    for (const name of ['a', 'b', 'c']) void turns.nextTurn().then(() => order.push(name));
    for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      await turn();
      expect(order).toEqual(expected);
    }
  });

  it('is left at once by work that is abandoned, and the next in line goes on', async () => {
    const { turns, turn } = queue();
    const client = new AbortController();
    const order: string[] = [];
    const waits = [undefined, client.signal, client.signal, undefined].map((signal, at) =>
      turns.nextTurn(signal).then(
        () => order.push(`${at}`),
        (error: Error) => order.push(`${at} ${error.message}`),
      ),
    );
    await turn();
    expect(turns.length).toBe(3);
    client.abort(new Error('gone'));
    expect(turns.length).toBe(1);
    await turn();
    await Promise.all(waits);
    expect(order).toEqual(['0', '1 gone', '2 gone', '3']);
  });

  it('does not take in work that is abandoned already', async () => {
    const { turns, turn } = queue();
    expect(turns.takeTurn()).toBeUndefined();
    await expect(turns.takeTurn(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(turns.length).toBe(0);
    await turn();
  });

  it('gives the first to ask this turn, and others later ones', async () => {
    const { turns, turn } = queue();
    const order: string[] = [];
    expect(turns.takeTurn()).toBeUndefined();
    void turns.takeTurn()?.then(() => order.push('second'));
    void turns.nextTurn().then(() => order.push('first, again'));
    await turn();
    expect(order).toEqual(['second']);
    void turns.takeTurn()?.then(() => order.push('third'));
    await turn();
    expect(order).toEqual(['second', 'first, again']);
    await turn();
    expect(order).toEqual(['second', 'first, again', 'third']);
    await turn();
    expect(turns.takeTurn()).toBeUndefined();
  });
});

it('budgets take their turns one after the other', async () => {
  const order: string[] = [];
  const worker = async (name: string): Promise<void> => {
    const budget = new EventLoopBudget();
    for (let piece = 0; piece < 2; piece += 1) {
      await budget.spend(stepsPerTurn);
      order.push(name);
    }
  };
  const all = Promise.all(['a', 'b', 'c'].map(worker));
  const perTurn: number[] = [];
  while (order.length < 6) {
    const before = order.length;
    await new Promise((resolve) => setImmediate(resolve));
    perTurn.push(order.length - before);
  }
  await all;
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  expect(Math.max(...perTurn)).toBe(1);
});
